// SPDX-License-Identifier: BSL-1.0
// Texts of the scores, weights and whole attentions of attention/.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr axis<"both", 96> both;
constexpr axis<"joined", 544> joined;
constexpr axis<"landmarks", 16> l;
constexpr alias<"m", l> m;
constexpr alias<"s", l> s;
constexpr axis<"segment"> segment;
constexpr batch_axis<"heads7", 7> heads7;
constexpr axis<"latent", 128> latent;
constexpr axis<"rotated", 16> rotated;
constexpr in<"h", batch, seq, d_k> h;
constexpr in<"S", batch, mem, d_v> S;
constexpr param<"W", both, hidden> W;
constexpr param<"Wd", d_k, hidden> Wd;
constexpr param<"U", d_v, hidden> U;
constexpr param<"v", hidden> v;
constexpr param<"G", d_k, d_v> G;
constexpr param<"w", d_model> w;
constexpr param<"sink", heads> sink;
constexpr param<"per_query", seq, d_k> pq;
constexpr param<"P", heads, mix> P;
constexpr in<"Pi", batch, heads, mix> Pi;
constexpr param<"Pw", mix, heads> Pw;
constexpr param<"Wk", d_model, heads, d_k> Wk;
constexpr param<"Wv", d_model, heads, d_v> Wv;
constexpr param<"Wo", heads, d_v, d_model> Wo;

constexpr param<"bq", heads, d_k> bq;
constexpr param<"bo", hidden> bo;
constexpr in<"K2", batch, kv_heads, kv, d_k> K2;
constexpr in<"V2", batch, kv_heads, kv, d_v> V2;
constexpr axis<"three", 3> three;
constexpr in<"C", batch, kv, latent> C;
constexpr in<"R", batch, heads, seq, rotated> R;
constexpr in<"r", batch, kv, rotated> r;
constexpr param<"Wkl", latent, heads, d_k> Wkl;
constexpr param<"Wvl", latent, heads, d_v> Wvl;

// Luong: states of different width
static_assert(says<decltype(luong_dot<d_k>(h, S))>(
    "dot<d_k>: no axis d_k in S h[batch, seq, d_k=64] S[batch, mem, d_v=32]"));
static_assert(says<decltype(luong_general<d_k, d_v>(h, Wd, S))>(
    "dot<d_v>: no axis d_v in dot(h, Wd) dot(h, Wd)[batch, seq, hidden=2048] S[batch, mem, "
    "d_v=32]"));
static_assert(says<decltype(luong_general<d_v, d_k>(h, G, S))>(
    "dot<d_v>: no axis d_v in h h[batch, seq, d_k=64] G[d_k=64, d_v=32]"));
// a joined axis of the wrong size
static_assert(says<decltype(luong_concat<joined, d_k, d_v, hidden>(h, S, W, v))>(
    "concat<joined>: d_k + d_v is 96 but joined is 544 h[batch, seq, d_k=64] S[batch, mem, "
    "d_v=32]"));
static_assert(says<decltype(luong_concat<both, d_v, d_k, hidden>(h, S, W, v))>(
    "concat<both>: no axis d_v in h did you mean luong_concat(S, h, W, v)? h[batch, seq, d_k=64]"));
static_assert(says<decltype(luong_output<both, d_v, d_k>(S, h, v))>(
    "dot<both>: no axis both in v concat(S, h)[batch, mem, both=96, seq] v[hidden=2048]"));
// Bahdanau: query and key swapped
static_assert(says<decltype(bahdanau<mem, seq, d_k, d_v, hidden>(h, S, Wd, U, v))>(
    "bahdanau<mem, seq>: no axis mem in h h[batch, seq, d_k=64]"));
static_assert(says<decltype(bahdanau<seq, mem, d_v, d_k, hidden>(h, S, Wd, U, v))>(
    "dot<d_v>: no axis d_v in h h[batch, seq, d_k=64] Wd[d_k=64, hidden=2048]"));
static_assert(says<decltype(bahdanau<seq, mem, d_k, d_v, hidden>(h, S, Wd, U, w))>(
    "dot<hidden>: no axis hidden in w tanh(..)[batch, mem, hidden=2048, seq] w[d_model=512]"));
// pooling: a query of another width
static_assert(says<decltype(attention_pooling<d_k, seq>(X, pq))>(
    "dot<d_k>: no axis d_k in X X[batch, seq, d_model=512] per_query[seq, d_k=64]"));
static_assert(says<decltype(attention_pooling<d_model, mem>(X, w))>(
    "softmax<mem>: no axis mem in dot(X, w) / sqrt(d_model) dot(X, w) / sqrt(d_model)[batch, "
    "seq]"));
// a sink: over queries
static_assert(says<decltype(attend_with_sink<seq>(scores, V, sink))>(
    "dot<seq>: no axis seq in V softmax(dot(Q, K))[batch, heads=8, seq, kv] V[batch, heads=8, kv, "
    "d_v=32]"));
static_assert(says<decltype(attend_with_sink<kv>(scores, V, pq))>(
    "-: per_query varies along d_k, which max(logsumexp(dot(Q, K)), number) lacks "
    "max(logsumexp(dot(Q, K)), number)[batch, heads=8, seq] per_query[seq, d_k=64]"));
static_assert(says<decltype(attend_with_sink<kv>(weights, V, sink))>(
    "softmax<kv>: softmax(dot(Q, K)) already holds weights over kv softmax the scores once; "
    "normalize<kv> rescales weights softmax(dot(Q, K))[batch, heads=8, seq, kv]"));
static_assert(says<decltype(softmax_plus_one<kv>(scores, Q))>(
    "dot<kv>: no axis kv in Q softmax(dot(Q, K))[batch, heads=8, seq, kv] Q[batch, heads=8, seq, "
    "d_k=64]"));
// sigmoid: a bias along an axis that scores lack
static_assert(says<decltype(sigmoid_attention<kv>(scores, V, w))>(
    "+: w varies along d_model, which dot(Q, K) lacks dot(Q, K)[batch, heads=8, seq, kv] "
    "w[d_model=512]"));
static_assert(says<decltype(sigmoid_attention<seq>(scores, V, sink))>(
    "dot<seq>: no axis seq in V sigmoid(dot(Q, K) + sink)[batch, heads=8, seq, kv] V[batch, "
    "heads=8, kv, d_v=32]"));
// differential: weights in the place of scores
static_assert(says<decltype(differential<kv>(scores, weights, V, 1))>(
    "softmax<kv>: softmax(dot(Q, K)) already holds weights over kv softmax the scores once; "
    "normalize<kv> rescales weights softmax(dot(Q, K))[batch, heads=8, seq, kv]"));
static_assert(says<decltype(differential<kv>(scores, let<"other">(scores), V, w))>(
    "*: w varies along d_model, which dot(softmax(other), V) lacks dot(softmax(other), V)[batch, "
    "heads=8, seq, d_v=32] w[d_model=512]"));
// talking heads: mixed by an activation
static_assert(says<decltype(talking_heads<kv, heads, mix>(scores, Pi, Pw, V))>(
    "dot<heads> adds up batch axis heads of two activations only a param may contract it; "
    "sum<heads> is a sum over it dot(Q, K)[batch, heads=8, seq, kv] Pi[batch, heads=8, mix=8]"));
static_assert(says<decltype(talking_heads<kv, heads, mix>(scores, P, Pw, V, index(seq) < length))>(
    "softmax<kv>: a mask does not vary along kv it empties whole rows; did you mean to mask kv? if "
    "it is meant, mask_rows(scores, keep) mask(dot(dot(Q, K), P), index(seq) < length)[batch, seq, "
    "kv, mix=8]"));
// linear: a feature map by softmax
static_assert(says<decltype(linear_attention<d_k, kv>(Q, softmax<d_k>(K), V))>(
    "dot<kv> contracts weights over d_k; did you mean softmax<kv>? if it is meant, "
    "plain(softmax(K)) makes them numbers softmax(K)[batch, heads=8, kv, d_k=64] V[batch, heads=8, "
    "kv, d_v=32]"));
static_assert(says<decltype(linear_attention<d_k, kv>(Q, Q, V))>(
    "dot<kv>: no axis kv in Q Q[batch, heads=8, seq, d_k=64] V[batch, heads=8, kv, d_v=32]"));
// causal: keys on an axis of their own
static_assert(says<decltype(causal_linear_attention<d_k, seq, d_v>(Q, K, V))>(
    "scan<seq>: no axis seq in K K[batch, heads=8, kv, d_k=64]"));
static_assert(says<decltype(causal_linear_attention<d_k, kv, d_v>(Q, Kq, Vq))>(
    "scan<kv>: no axis kv in Q Q[batch, heads=8, seq, d_k=64]"));
// multi-head: mask, name of the keys, bias of another axis
static_assert(says<decltype(multi_head<d_model, seq, kv, heads, d_k, d_v>(X, Wq, Wk, Wv, Wo,
                                                                          causal<kv, seq>))>(
    "softmax<kv>: causal<kv, seq> takes seq as its keys did you mean causal<seq, kv>? mask(dot(..) "
    "/ sqrt(d_k), causal<kv, seq>)[batch, seq, heads=8, kv]"));
// two matrices exchanged, one of them with its bias
static_assert(
    says<decltype(multi_head<d_model, seq, kv, heads, d_k, d_v>(X, Wk, with_bias(Wq, bq), Wv, Wo))>(
        "multi_head: Wk is in the place of the Wq, Wq in that of the Wk it takes multi_head(X, Wq, "
        "Wk, Wv, Wo[, keep]); if it is meant, let<\"Wq\">(Wk)"));
static_assert(says<decltype(multi_head<d_model, seq, seq, heads, d_k, d_v>(X, Wq, Wk, Wv, Wo))>(
    "rename: from and to are the same axis X[batch, seq, d_model=512]"));
static_assert(
    says<decltype(multi_head<d_model, seq, kv, heads, d_k, d_v>(X, Wq, Wk, Wv, with_bias(Wo, bo)))>(
        "+: bo varies along hidden, which dot(scaled_dot_product(..), Wo) lacks "
        "dot(scaled_dot_product(..), Wo)[batch, seq, d_model=512] bo[hidden=2048]"));
// cross: the keys were not renamed, of another width
static_assert(
    says<decltype(cross_attention<d_model, d_model, mem, heads, d_k, d_v>(X, X, Wq, Wk, Wv, Wo))>(
        "dot<d_k>: both sides carry seq rename one side or make it a batch axis: rename<seq, "
        "...>(project(X, Wk)) for a product at each seq, write sum<d_k>(project(X, Wq) * "
        "project(X, Wk)) project(X, Wq)[batch, seq, heads=8, d_k=64] project(X, Wk)[batch, seq, "
        "heads=8, d_k=64]"));
static_assert(
    says<decltype(cross_attention<d_model, d_v, mem, heads, d_k, d_v>(X, S, Wq, Wk, Wv, Wo))>(
        "dot<d_v>: no axis d_v in Wk S[batch, mem, d_v=32] Wk[d_model=512, heads=8, d_k=64]"));
static_assert(says<decltype(project<d_model>(X, with_bias(Wq, w)))>(
    "+: w varies along d_model, which dot(X, Wq) lacks dot(X, Wq)[batch, seq, heads=8, d_k=64] "
    "w[d_model=512]"));
// grouped: heads that do not divide, keys for every head
static_assert(says<decltype(grouped_query<heads, kv_heads, three, d_k, kv>(Q, K2, V2))>(
    "split<heads>: 3 three do not divide heads=8 (rest 2) divisors near: 2 or 4 Q[batch, heads=8, "
    "seq, d_k=64]"));
static_assert(says<decltype(grouped_query<heads, heads7, group, d_k, kv>(Q, K2, V2))>(
    "grouped_query<heads, heads7, group>: no axis heads7 in K2 K2[batch, kv_heads=2, kv, d_k=64]"));
static_assert(says<decltype(grouped_query<heads, kv_heads, group, d_k, kv>(Q, K, V))>(
    "grouped_query<heads, kv_heads, group>: no axis kv_heads in K K[batch, heads=8, kv, d_k=64]"));
// latent: a matrix of the model, a swapped mask
static_assert(says<decltype(latent_attention<latent, d_k, rotated, kv>(Q, R, C, r, Wkl, Wv))>(
    "dot<latent>: no axis latent in Wv C[batch, kv, latent=128] Wv[d_model=512, heads=8, d_v=32]"));
static_assert(says<decltype(latent_attention<latent, d_k, rotated, kv>(Q, R, C, r, Wkl, Wvl,
                                                                       causal<kv, seq>))>(
    "softmax<kv>: causal<kv, seq> takes seq as its keys did you mean causal<seq, kv>? mask((..) / "
    "sqrt(..), causal<kv, seq>)[batch, heads=8, seq, kv]"));
// Nystrom: keys and values that are queries, another width
static_assert(says<decltype(nystrom<d_k, seq, kv, l, m, s, segment>(Q, Q, V))>(
    "split<kv, m, segment>: no axis kv in Q Q[batch, heads=8, seq, d_k=64]"));
static_assert(says<decltype(nystrom<d_k, seq, kv, l, m, s, segment, 2>(Q, Q, V))>(
    "split<kv, m, segment>: no axis kv in Q Q[batch, heads=8, seq, d_k=64]"));
static_assert(says<decltype(nystrom<d_k, seq, kv, l, m, s, segment>(Q, K, Q))>(
    "dot<kv>: no axis kv in Q softmax(dot(..) / sqrt(d_k))[batch, heads=8, landmarks=16, kv] "
    "Q[batch, heads=8, seq, d_k=64]"));
static_assert(says<decltype(nystrom<d_v, seq, kv, l, m, s, segment>(Q, K, V))>(
    "dot<d_v>: no axis d_v in Q Q[batch, heads=8, seq, d_k=64] mean(split(K))[batch, heads=8, "
    "m=16, d_k=64]"));

// all of them right
static_assert(
    !refused<decltype(grouped_query<heads, kv_heads, group, d_k, kv>(Q, K2, V2,
                                                                     padding<kv>(length)))> &&
    !refused<decltype(multi_head<d_model, seq, kv, heads, d_k, d_v>(X, Wq, Wk, Wv, Wo))> &&
    !refused<decltype(bahdanau<seq, mem, d_k, d_v, hidden>(h, S, Wd, U, v))> &&
    !refused<decltype(causal_linear_attention<d_k, seq, d_v>(Q, Kq, Vq))> &&
    !refused<decltype(latent_attention<latent, d_k, rotated, kv>(Q, R, C, r, Wkl, Wvl))> &&
    !refused<decltype(nystrom<d_k, seq, kv, l, m, s, segment>(Q, K, V))>);

}  // namespace
