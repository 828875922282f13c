// SPDX-License-Identifier: BSL-1.0
// Every text of softmax, normalize, mask, causal: what weights may be made of.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr auto masked_queries = step<decltype(mask(scores, index(seq) < length))>;
constexpr auto swapped = step<decltype(mask(scores, causal<kv, seq>))>;
constexpr in<"B", batch, heads, seq> B;
constexpr in<"n", i32, batch, kv> n;
constexpr axis<"heads", 4> heads4;
constexpr axis<"heads", 8> plain_heads;
constexpr in<"N", b8, heads4, kv> N;
constexpr auto cross = step<decltype(dot<d_model>(X, E))>;

// softmax over an axis of another size
static_assert(says<decltype(softmax<heads4>(scores))>(
    "softmax<heads>: heads is 8 in dot(Q, K), not 4 dot(Q, K)[batch, heads=8, seq, kv]"));
// over an axis of another kind
static_assert(says<decltype(softmax<plain_heads>(scores))>(
    "softmax<heads>: two different axes are named heads dot(Q, K)[batch, heads=8, seq, kv]"));
// softmax over a missing axis
static_assert(says<decltype(softmax<mem>(scores))>(
    "softmax<mem>: no axis mem in dot(Q, K) dot(Q, K)[batch, heads=8, seq, kv]"));
// over no axis
static_assert(
    says<decltype(softmax<>(scores))>("softmax: names no axis did you mean softmax<kv>(dot(Q, K))? "
                                      "dot(Q, K)[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(softmax<kv>(index(kv) * 2))>);
// twice
static_assert(says<decltype(softmax<kv>(weights))>(
    "softmax<kv>: softmax(dot(Q, K)) already holds weights over kv softmax the scores once; "
    "normalize<kv> rescales weights softmax(dot(Q, K))[batch, heads=8, seq, kv]"));
// twice, with something in between
static_assert(says<decltype(softmax<kv>(step<decltype(weights * 2.f)>))>(
    "softmax<kv>: softmax(dot(Q, K)) * number already holds weights over kv softmax the scores "
    "once; normalize<kv> rescales weights softmax(dot(Q, K)) * number[batch, heads=8, seq, kv]"));
// over two axes, one of them again
static_assert(says<decltype(softmax<seq, kv>(weights))>(
    "softmax<seq, kv>: softmax(dot(Q, K)) already holds weights over kv softmax the scores once; "
    "normalize<seq, kv> rescales weights softmax(dot(Q, K))[batch, heads=8, seq, kv]"));
// a mask over queries
static_assert(says<decltype(softmax<kv>(masked_queries))>(
    "softmax<kv>: a mask does not vary along kv it empties whole rows; did you mean to mask kv? if "
    "it is meant, mask_rows(scores, keep) mask(dot(Q, K), index(seq) < length)[batch, heads=8, "
    "seq, kv]"));
// a mask over keys, and softmax over the queries
static_assert(says<decltype(softmax<seq>(step<decltype(mask(scores, index(kv) < length))>))>(
    "softmax<seq>: a mask does not vary along seq it empties whole rows; did you mean softmax<kv>? "
    "if it is meant, mask_rows(scores, keep) mask(dot(Q, K), index(kv) < length)[batch, heads=8, "
    "seq, kv]"));
// the same, scaled after
static_assert(says<decltype(softmax<kv>(step<decltype(masked_queries * 2.f)>))>(
    "softmax<kv>: a mask does not vary along kv it empties whole rows; did you mean to mask kv? if "
    "it is meant, mask_rows(scores, keep) mask(..) * number[batch, heads=8, seq, kv]"));
// a bias over queries
static_assert(says<decltype(softmax<kv>(step<decltype(scores - 0.5f * index(seq))>))>(
    "softmax<kv>: a bias does not vary along kv and cancels leave it out, or give it the axis kv; "
    "a sink goes into attend_with_sink<kv> dot(Q, K) - (number * index(seq))[batch, heads=8, seq, "
    "kv]"));
// a bias given as input
static_assert(says<decltype(softmax<kv>(step<decltype(scores + B)>))>(
    "softmax<kv>: a bias does not vary along kv and cancels leave it out, or give it the axis kv; "
    "a sink goes into attend_with_sink<kv> dot(Q, K) + B[batch, heads=8, seq, kv]"));
// causal with query and key swapped
static_assert(says<decltype(softmax<kv>(swapped))>(
    "softmax<kv>: causal<kv, seq> takes seq as its keys did you mean causal<seq, kv>? mask(dot(Q, "
    "K), causal<kv, seq>)[batch, heads=8, seq, kv]"));
// softmax over the queries of a causal mask
static_assert(says<decltype(softmax<seq>(step<decltype(mask(scores, causal<seq, kv>))>))>(
    "softmax<seq>: causal<seq, kv> takes kv as its keys did you mean softmax<kv>? mask(dot(Q, K), "
    "causal<seq, kv>)[batch, heads=8, seq, kv]"));
// the same where the queries are the alias: it is the mask that is swapped
static_assert(says<decltype(softmax<kv>(step<decltype(mask(scores, causal<kv, seq>))>))>(
    "softmax<kv>: causal<kv, seq> takes seq as its keys did you mean causal<seq, kv>? mask(dot(Q, "
    "K), causal<kv, seq>)[batch, heads=8, seq, kv]"));
// the same through let and scale
static_assert(says<decltype(softmax<kv>(step<decltype(let<"s">(step<decltype(swapped / 2.f)>))>))>(
    "softmax<kv>: causal<kv, seq> takes seq as its keys did you mean causal<seq, kv>? s[batch, "
    "heads=8, seq, kv]"));
// normalize over a missing axis
static_assert(
    says<decltype(normalize<mem>(weights))>("normalize<mem>: no axis mem in softmax(dot(Q, K)) "
                                            "softmax(dot(Q, K))[batch, heads=8, seq, kv]"));
// over no axis
static_assert(says<decltype(normalize<>(weights))>(
    "normalize: names no axis did you mean normalize<kv>(softmax(dot(Q, K)))? softmax(dot(Q, "
    "K))[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(normalize<kv>(index(kv) * 2))>);
// of numbers masked over queries
static_assert(says<decltype(normalize<kv>(step<decltype(exp(masked_queries))>))>(
    "normalize<kv>: a mask does not vary along kv it empties whole rows; did you mean to mask kv? "
    "if it is meant, mask_rows(scores, keep) exp(mask(..))[batch, heads=8, seq, kv]"));
// of causal numbers with query and key swapped
static_assert(says<decltype(normalize<kv>(step<decltype(relu(swapped))>))>(
    "normalize<kv>: causal<kv, seq> takes seq as its keys did you mean causal<seq, kv>? "
    "relu(mask(..))[batch, heads=8, seq, kv]"));
// mask after softmax
static_assert(says<decltype(mask(weights, index(kv) <= index(seq)))>(
    "mask after softmax<kv> mask the scores before softmax; if it is meant, where(keep, "
    "plain(softmax(dot(Q, K))), 0) softmax(dot(Q, K))[batch, heads=8, seq, kv]"));
// mask after normalize
static_assert(
    says<decltype(mask(step<decltype(normalize<kv>(step<decltype(exp(scores))>))>, keep))>(
        "mask after softmax<kv> mask the scores before softmax; if it is meant, where(keep, "
        "plain(normalize(exp(dot(Q, K)))), 0) normalize(exp(dot(Q, K)))[batch, heads=8, seq, kv]"));
// a mask over axes that scores lack
static_assert(says<decltype(mask(scores, index(mem) < length))>(
    "mask: keep varies along mem, which dot(Q, K) lacks dot(Q, K)[batch, heads=8, seq, kv] "
    "index(mem) < length[mem, batch]"));
// a mask of numbers
static_assert(
    says<decltype(mask(scores, n))>("mask: n is i32, not b8 did you mean n != 0? n[batch, kv]"));
// a mask of two sizes
static_assert(says<decltype(mask(scores, N))>(
    "mask: heads is 8 in dot(Q, K) but 4 in N dot(Q, K)[batch, heads=8, seq, kv] N[heads=4, kv]"));
static_assert(!refused<decltype(mask(index(kv), index(kv) < 3))>);
// causal between unrelated sizes
static_assert(says<decltype(mask(cross, causal<seq, mem>))>(
    "causal<seq, mem>: the sizes of seq and mem are unrelated say causal<seq, mem, align::first> "
    "or align::last; over a cache, cached_causal dot(X, E)[batch, seq, mem]"));
// also beside another mask
static_assert(says<decltype(mask(cross, causal<seq, mem> and index(mem) < length))>(
    "causal<seq, mem>: the sizes of seq and mem are unrelated say causal<seq, mem, align::first> "
    "or align::last; over a cache, cached_causal dot(X, E)[batch, seq, mem]"));
// mask_rows after softmax
static_assert(says<decltype(mask_rows(weights, index(seq) < length))>(
    "mask_rows after softmax<kv> mask the scores before softmax; if it is meant, where(keep, "
    "plain(softmax(dot(Q, K))), 0) softmax(dot(Q, K))[batch, heads=8, seq, kv]"));
// mask_rows over axes that scores lack
static_assert(says<decltype(mask_rows(scores, index(mem) < length))>(
    "mask_rows: keep varies along mem, which dot(Q, K) lacks dot(Q, K)[batch, heads=8, seq, kv] "
    "index(mem) < length[mem, batch]"));
// mask_rows of numbers
static_assert(says<decltype(mask_rows(scores, n))>(
    "mask_rows: n is i32, not b8 did you mean n != 0? n[batch, kv]"));

// weights bent as if they were scores
static_assert(says<decltype(sigmoid(weights))>(
    "sigmoid: softmax(dot(Q, K)) already holds weights over kv did you mean sigmoid(..) of the "
    "scores in place of softmax? if it is meant, plain(..) of the weights softmax(dot(Q, "
    "K))[batch, heads=8, seq, kv]"));
static_assert(says<decltype(tanh(weights))>(
    "tanh: softmax(dot(Q, K)) already holds weights over kv did you mean tanh(..) of the scores? "
    "if it is meant, plain(..) of the weights softmax(dot(Q, K))[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(sigmoid(plain(weights)))> && !refused<decltype(log(weights))> &&
              !refused<decltype(relu(weights))>);
// weights masked in place of their scores
static_assert(says<decltype(weights * cast<f32>(causal<seq, kv>))>(
    "*: cast(causal<seq, kv>) leaves out some of the weights over kv, which no longer add up to 1 "
    "mask the scores before softmax; if it is meant, plain(..) of the weights softmax(dot(Q, "
    "K))[batch, heads=8, seq, kv] cast(causal<seq, kv>)[kv, seq]"));
static_assert(says<decltype(cast<f32>(keep) * weights)>(
    "*: cast(keep) leaves out some of the weights over kv, which no longer add up to 1 mask the "
    "scores before softmax; if it is meant, plain(..) of the weights softmax(dot(Q, K))[batch, "
    "heads=8, seq, kv] cast(keep)[batch, kv]"));
static_assert(says<decltype(where(causal<seq, kv>, weights, 0))>(
    "where: causal<seq, kv> leaves out some of the weights over kv, which no longer add up to 1 "
    "mask the scores before softmax; if it is meant, plain(..) of the weights softmax(dot(Q, "
    "K))[batch, heads=8, seq, kv] causal<seq, kv>[kv, seq]"));
constexpr in<"kept", b8, batch, heads, seq, kv> kept;
constexpr auto masked_weights =
    step<decltype(softmax<kv>(step<decltype(mask(scores, causal<seq, kv>))>))>;
static_assert(!refused<decltype(plain(weights) * cast<f32>(keep))> &&
              !refused<decltype(weights * cast<f32>(kept))> &&
              !refused<decltype(dropout<0.1>(weights, 1))> &&
              !refused<decltype(masked_weights * cast<f32>(causal<seq, kv>))> &&
              !refused<decltype(where(causal<seq, kv>, masked_weights, 0))>);

}  // namespace
