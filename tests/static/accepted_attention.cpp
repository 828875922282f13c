// SPDX-License-Identifier: BSL-1.0
// Right attention of unusual shape: none of it may be refused.
#include "spec.hpp"

namespace accepted {

using namespace spec;

using Q_ = in<"Q", batch, heads, seq, d_k>;
using K_ = in<"K", batch, heads, kv, d_k>;
using V_ = in<"V", batch, heads, kv, d_v>;
using O_ = out<"O", batch, heads, seq, d_v>;
constexpr axis<"latent", 48> latent;
constexpr batch_axis<"blocks"> blocks;
constexpr axis<"query", 16> query;
constexpr axis<"place", 16> place;

constexpr auto phi(auto x) { return elu(x) + 1; }

inline constexpr auto linear = kernel<"linear">([](Q_ Q, K_ K, V_ V) -> O_ {
  return dot<d_k>(phi(Q), dot<kv>(phi(K), V)) / dot<d_k>(phi(Q), sum<kv>(phi(K)));
});

inline constexpr auto feature_map_by_softmax = kernel<"efficient">([](Q_ Q, K_ K, V_ V) -> O_ {
  return dot<d_k>(softmax<d_k>(Q), dot<kv>(plain(softmax<d_k>(K)), V));
});

inline constexpr auto bahdanau = kernel<"bahdanau">(
    [](in<"h", batch, seq, d_model> h, in<"s", batch, mem, d_model> s,
       param<"W", d_model, hidden> W, param<"U", d_model, hidden> U, param<"c", hidden> c,
       param<"v", hidden> v) -> out<"O", batch, seq, d_model> {
      auto e = tanh(broadcast<mem>(dot<d_model>(h, W)) + broadcast<seq>(dot<d_model>(s, U)) + c);
      return dot<mem>(softmax<mem>(dot<hidden>(e, v)), s);
    });

inline constexpr auto luong_dot = kernel<"luong_dot">(
    [](in<"h", batch, seq, d_k> h, in<"s", batch, mem, d_k> s) -> out<"O", batch, seq, d_k> {
      return dot<mem>(softmax<mem>(dot<d_k>(h, s)), s);
    });

inline constexpr auto luong_general = kernel<"luong_general">(
    [](in<"h", batch, seq, d_k> h, in<"s", batch, mem, d_v> s, param<"W", d_k, d_v> W,
       param<"Wc", d_v, d_k> Wc) -> out<"O", batch, seq, d_k> {
      auto context = dot<mem>(softmax<mem>(dot<d_v>(dot<d_k>(h, W), s)), s);
      return tanh(dot<d_v>(context, Wc) + h);
    });

inline constexpr auto low_rank_values = kernel<"low_rank">(
    [](Q_ Q, K_ K, in<"U", batch, heads, kv, latent> U, param<"A", latent, d_v> A) -> O_ {
      return dot<kv>(softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k)), dot<latent>(U, A));
    });

inline constexpr auto absorbed_latent_keys =
    kernel<"latent">([](Q_ Q, param<"U", heads, d_k, latent> U, in<"C", batch, kv, latent> C,
                        param<"Wv", heads, latent, d_v> Wv) -> O_ {
      auto s = dot<latent>(dot<d_k>(Q, U), C) / sqrt(d_k);
      return dot<latent>(dot<kv>(softmax<kv>(s), C), Wv);
    });

inline constexpr auto learned_queries = kernel<"pooling">(
    [](in<"X", batch, kv, d_k> X, param<"q", group, d_k> q) -> out<"O", batch, group, d_k> {
      return dot<kv>(softmax<kv>(dot<d_k>(q, X)), X);
    });

inline constexpr auto single_query = kernel<"single_query">(
    [](in<"q", d_k> q, in<"K", kv, d_k> K, in<"V", kv, d_v> V) -> out<"O", d_v> {
      return dot<kv>(softmax<kv>(dot<d_k>(q, K) / sqrt(d_k)), V);
    });

inline constexpr auto grouped = kernel<"grouped">(
    [](Q_ Q, in<"K", batch, kv_heads, kv, d_k> K, in<"V", batch, kv_heads, kv, d_v> V,
       in<"length", i32, batch> length) -> outs<O_, out<"lse", batch, kv_heads, group, seq>> {
      auto s = mask(dot<d_k>(split<heads, kv_heads, group>(Q), K) / sqrt(d_k),
                    causal<seq, kv> and padding<kv>(length));
      return {merge<heads, kv_heads, group>(dot<kv>(softmax<kv>(s), V)), logsumexp<kv>(s)};
    });

inline constexpr auto multi_query =
    kernel<"multi_query">([](Q_ Q, in<"K", batch, kv, d_k> K, in<"V", batch, kv, d_v> V) -> O_ {
      return dot<kv>(softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k)), V);
    });

inline constexpr auto differential = kernel<"differential">(
    [](Q_ Q, K_ K, in<"Q2", batch, heads, seq, d_k> Q2, in<"K2", batch, heads, kv, d_k> K2, V_ V,
       param<"lambda"> lambda) -> O_ {
      auto w = softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k)),
           w2 = softmax<kv>(dot<d_k>(Q2, K2) / sqrt(d_k));
      return dot<kv>(w - lambda * w2, V);
    });

inline constexpr auto sink_by_hand = kernel<"sink">(
    [](Q_ Q, K_ K, V_ V, param<"sink", heads> sink) -> outs<O_, out<"lse", batch, heads, seq>> {
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, kv>);
      auto m = max(max<kv>(s), sink);
      auto w = exp(s - m);
      auto l = sum<kv>(w) + exp(sink - m);
      return {dot<kv>(w / l, V), m + log(l)};
    });

inline constexpr auto softmax_off_by_one = kernel<"off_by_one">([](Q_ Q, K_ K, V_ V) -> O_ {
  auto s = dot<d_k>(Q, K) / sqrt(d_k);
  auto m = max(max<kv>(s), 0);
  auto w = exp(s - m);
  return dot<kv>(w, V) / (sum<kv>(w) + exp(-m));
});

inline constexpr auto sigmoid_without_sum =
    kernel<"sigmoid">([](Q_ Q, K_ K, V_ V, param<"bias", heads> bias) -> O_ {
      return dot<kv>(sigmoid(dot<d_k>(Q, K) / sqrt(d_k) + bias), V);
    });

inline constexpr auto other_normalisers =
    kernel<"normalisers">([](Q_ Q, K_ K, V_ V) -> outs<O_, out<"P", batch, heads, seq, d_v>> {
      auto s = dot<d_k>(Q, K);
      return {dot<kv>(normalize<kv>(log(1 + exp(s))), V),
              dot<kv>(normalize<kv>(pow(relu(s), 2)), V)};
    });

inline constexpr auto alibi = kernel<"alibi">([](Q_ Q, K_ K, V_ V,
                                                 param<"slope", heads> slope) -> O_ {
  auto s = dot<d_k>(Q / sqrt(d_k), K) + slope * (index(kv) - index(seq));
  return dot<kv>(softmax<kv>(mask(s, index(kv) <= index(seq) and index(seq) - index(kv) < 128)), V);
});

inline constexpr auto softcap = kernel<"softcap">([](Q_ Q, K_ K, V_ V) -> O_ {
  auto s = let<"scores">(30 * tanh(dot<d_k>(Q, K) / sqrt(d_k) / 30));
  return dot<kv>(softmax<kv>(s - max<kv>(s)), V);
});

inline constexpr auto talking_heads =
    kernel<"talking">([](Q_ Q, K_ K, in<"V", batch, mix, kv, d_v> V,
                         param<"P", heads, mix> P) -> out<"O", batch, mix, seq, d_v> {
      return dot<kv>(dot<heads>(softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k)), P), V);
    });

inline constexpr auto slots =
    kernel<"slots">([](in<"S", batch, group, d_k> S, in<"K", batch, kv, d_k> K,
                       in<"V", batch, kv, d_v> V) -> out<"U", batch, group, d_v> {
      return dot<kv>(normalize<kv>(softmax<group>(dot<d_k>(S, K) / sqrt(d_k)) + 1e-8f), V);
    });

inline constexpr auto nystrom =
    kernel<"nystrom">([](in<"A", batch, seq, mem> A, in<"B", batch, mem, kv> B,
                         in<"V", batch, kv, d_v> V) -> out<"O", batch, seq, d_v> {
      return dot<kv>(dot<mem>(softmax<mem>(A), softmax<kv>(B)), V);
    });

inline constexpr auto documents = kernel<"documents">(
    [](Q_ Q, K_ K, V_ V, in<"a", i32, batch, seq> a, in<"b", i32, batch, kv> b) -> O_ {
      return dot<kv>(softmax<kv>(mask(dot<d_k>(Q, K), a == b)), V);
    });

inline constexpr auto padding_bias =
    kernel<"padding_bias">([](Q_ Q, K_ K, V_ V, in<"pad", batch, kv> pad) -> O_ {
      return dot<kv>(softmax<kv>(dot<d_k>(Q, K) + pad), V);
    });

inline constexpr auto relative_table =
    kernel<"relative">([](Q_ Q, K_ K, V_ V, param<"table", heads, seq, kv> table) -> O_ {
      return dot<kv>(softmax<kv>(dot<d_k>(Q, K) + table), V);
    });

inline constexpr auto content_and_position_terms =
    kernel<"content">([](Q_ Q, K_ K, V_ V, param<"u", heads, d_k> u) -> O_ {
      return dot<kv>(softmax<kv>(dot<d_k>(Q, K) + broadcast<seq>(dot<d_k>(u, K))), V);
    });

inline constexpr auto attention_mass = kernel<"mass">(
    [](Q_ Q, K_ K) -> out<"m", batch, heads, kv> { return sum<seq>(softmax<kv>(dot<d_k>(Q, K))); });

inline constexpr auto cache = kernel<"cache">(
    [](Q_ Q, in<"K", batch, heads, mem, d_k> K, in<"V", batch, heads, mem, d_v> V) -> O_ {
      return scaled_dot_product<d_k, mem>(
          Q, K, V, causal<seq, mem, align::last> and sliding_window<seq, mem, align::last>(256));
    });

inline constexpr auto dead_queries =
    kernel<"dead_queries">([](Q_ Q, K_ K, V_ V, in<"length", i32, batch> length) -> O_ {
      return dot<kv>(
          softmax<kv>(mask_rows(mask(dot<d_k>(Q, K), padding<kv>(length)), index(seq) < length)),
          V);
    });

inline constexpr auto normalized_queries_and_keys =
    kernel<"cosine">([](Q_ Q, K_ K, V_ V, param<"temperature", heads> temperature) -> O_ {
      auto unit = [](auto x) { return x * rsqrt(sum<d_k>(x * x) + 1e-6f); };
      return dot<kv>(softmax<kv>(dot<d_k>(unit(Q), unit(K)) * temperature), V);
    });

inline constexpr auto dropped_weights =
    kernel<"dropped">([](Q_ Q, K_ K, V_ V, in<"kept", batch, heads, seq, kv> kept) -> O_ {
      return dot<kv>(softmax<kv>(dot<d_k>(Q, K)) * kept / 0.9f, V);
    });

inline constexpr auto per_head_gate =
    kernel<"gate">([](Q_ Q, K_ K, V_ V, in<"g", batch, heads, seq> g) -> O_ {
      return scaled_dot_product<d_k, kv>(Q, K, V) * sigmoid(g);
    });

inline constexpr auto fully_masked_by_table =
    kernel<"table_mask">([](Q_ Q, K_ K, V_ V, in<"M", b8, seq, kv> M) -> O_ {
      return dot<kv>(softmax<kv>(mask(dot<d_k>(Q, K), M)), V);
    });

inline constexpr auto distances = kernel<"distances">([](Q_ Q, K_ K, V_ V) -> O_ {
  auto far = sum<d_k>(abs(broadcast<kv>(Q) - broadcast<seq>(K)));
  return dot<kv>(softmax<kv>(-far / sqrt(d_k)), V);
});

inline constexpr auto two_score_parts = kernel<"latent_rope">(
    [](Q_ Q, K_ K, V_ V, in<"q", batch, heads, seq, latent> q, in<"k", batch, kv, latent> k) -> O_ {
      auto s = (dot<d_k>(Q, K) + dot<latent>(q, k)) / sqrt(size(d_k) + size(latent));
      return dot<kv>(softmax<kv>(s), V);
    });

inline constexpr auto location_based =
    kernel<"location">([](in<"h", batch, seq, d_k> h, param<"W", d_k, mem> W,
                          in<"s", batch, mem, d_v> s) -> out<"O", batch, seq, d_v> {
      return dot<mem>(softmax<mem>(dot<d_k>(h, W)), s);
    });

inline constexpr auto causal_linear_by_mask = kernel<"causal_linear">([](Q_ Q, K_ K, V_ V) -> O_ {
  auto s = mask(dot<d_k>(phi(Q), phi(K)), causal<seq, kv>);
  return dot<kv>(s, V) / sum<kv>(s);
});

inline constexpr auto local_blocks =
    kernel<"blocks">([](in<"Q", batch, seq, d_k> Q, in<"K", batch, kv, d_k> K,
                        in<"V", batch, kv, d_v> V) -> out<"O", batch, blocks, query, d_v> {
      auto q = split<seq, blocks, query>(Q);
      auto k = split<kv, blocks, place>(K);
      auto v = split<kv, blocks, place>(V);
      return dot<place>(softmax<place>(mask(dot<d_k>(q, k) / sqrt(d_k), causal<query, place>)), v);
    });

inline constexpr auto attention_of_attention = kernel<"rollout">(
    [](in<"A", batch, seq, mem> A, in<"B", batch, mem, kv> B) -> out<"R", batch, seq, kv> {
      auto b = softmax<kv>(B);
      return dot<mem>(softmax<mem>(A), (b + where(index(mem) == index(kv), 1, 0)) / 2);
    });

inline constexpr auto two_levels = kernel<"hierarchy">([
](in<"X", batch, blocks, kv, d_k> X, param<"w", d_k> w, param<"u", d_k> u) -> out<"Y", batch, d_k> {
  auto sentences = dot<kv>(softmax<kv>(dot<d_k>(X, w)), X);
  return dot<blocks>(softmax<blocks>(dot<d_k>(sentences, u)), sentences);
});

// Bahdanau's letters: s is the state of the decoder, h are the annotations of the source.
constexpr axis<"d_s", 24> d_s;
constexpr axis<"units", 16> units;
inline constexpr auto of_the_paper = kernel<"of_the_paper">(
    [](in<"s", batch, seq, d_s> s, in<"h", batch, mem, d_k> h, param<"W", d_s, units> W,
       param<"U", d_k, units> U, param<"v", units> v) -> out<"c", batch, seq, d_k> {
      return dot<mem>(softmax<mem>(qkv::bahdanau<seq, mem, d_s, d_k, units>(s, h, W, U, v)), h);
    });
inline constexpr auto general =
    kernel<"general">([](in<"s", batch, seq, d_s> s, in<"h", batch, mem, d_k> h,
                         param<"W", d_s, d_k> W) -> out<"e", batch, seq, mem> {
      return qkv::luong_general<d_s, d_k>(s, W, h);
    });

// Luong's local attention: a place of the source, and a Gaussian around it.
inline constexpr auto local =
    kernel<"local">([](in<"s", batch, seq, d_k> s, in<"h", batch, mem, d_k> h,
                       param<"v", d_k> v) -> out<"c", batch, seq, d_k> {
      auto place = size(mem) * sigmoid(dot<d_k>(tanh(s), v));
      auto far = index(mem) - place;
      return dot<mem>(softmax<mem>(dot<d_k>(s, h)) * exp(-(far * far) / 8), h);
    });
inline constexpr auto around = kernel<"around">([
](in<"e", batch, seq, mem> e, in<"place", i32, batch, seq> place) -> out<"w", batch, seq, mem> {
  return softmax<mem>(mask(e, abs(index(mem) - place) <= 5));
});

// Names that tell an exchange, where the shapes do not.
constexpr batch_axis<"mixed_heads", 6> mixed_heads;
inline constexpr auto there_and_back = kernel<"there_and_back">(
    [](in<"s", batch, heads, seq, kv> s, param<"mix_weights", heads, mixed_heads> there,
       param<"mix_scores", mixed_heads, kv_heads> back,
       in<"V", batch, kv_heads, kv, d_v> V) -> out<"O", batch, kv_heads, seq, d_v> {
      return qkv::talking_heads<kv, heads, mixed_heads>(s, there, back, V);
    });

static_assert(linear.trace().count(core::op::elu) == 4 &&
              alibi.trace().count(core::op::mask) == 1 &&
              grouped.trace().count(core::op::output) == 2);

}  // namespace accepted
