// SPDX-License-Identifier: BSL-1.0
#pragma once
// The attentions of dsl/attention/ in compiled kernels: layers as known models have them.
#include <qkv/dsl.hpp>

namespace zoo {
using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 3> heads;
inline constexpr batch_axis<"mixed", 3> mixed;
inline constexpr batch_axis<"q_heads", 6> q_heads;
inline constexpr axis<"group", 2> group;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"mem"> mem;
inline constexpr axis<"d_model", 48> d_model;
inline constexpr axis<"d_e", 20> d_e;
inline constexpr axis<"d_k", 32> d_k;
inline constexpr axis<"d_v", 24> d_v;
inline constexpr axis<"two", 2> two;
inline constexpr axis<"half", 16> half;
inline constexpr axis<"front", 16> front;
inline constexpr axis<"rest", 16> rest;
inline constexpr axis<"quarter", 8> quarter;
inline constexpr axis<"buckets", 32> buckets;
inline constexpr axis<"distances", 17> distances;
inline constexpr axis<"both", 56> both;  // d_k + d_v
inline constexpr axis<"hidden", 40> hidden;
inline constexpr axis<"latent", 12> latent;
inline constexpr axis<"rotated", 8> rotated;
inline constexpr axis<"queries", 5> queries;
inline constexpr axis<"l", 4> l;
inline constexpr alias<"m", l> m;
inline constexpr alias<"s", l> s;
inline constexpr axis<"segment"> segment;

using Q_ = in<"Q", batch, heads, seq, d_k>;
using K_ = in<"K", batch, heads, kv, d_k>;
using V_ = in<"V", batch, heads, kv, d_v>;
using O_ = out<"O", batch, heads, seq, d_v>;

// gpt-oss: grouped heads turned by position, a sink, a window.
inline constexpr auto sink_and_window = kernel<"sink_and_window">(
    [](in<"Q", batch, q_heads, seq, d_k> Q, K_ K, V_ V, param<"cos", seq, half> cos,
       param<"sin", seq, half> sin,
       param<"sink", heads, group> sink) -> out<"O", batch, q_heads, seq, d_v> {
      auto q = rope<d_k, two, half>(split<q_heads, heads, group>(Q), cos, sin);
      auto k = rope<d_k, two, half>(K, rename<seq, kv>(cos), rename<seq, kv>(sin));
      auto kept = mask(dot<d_k>(q, k) / sqrt(d_k), causal<seq, kv> and sliding_window<seq, kv>(40));
      return merge<q_heads, heads, group>(attend_with_sink<kv>(kept, V, sink));
    });

// Neighbouring pairs, half of the features, angles without a table; cosines as scores.
inline constexpr auto turned_in_part = kernel<"turned_in_part">([](Q_ Q, K_ K, V_ V) -> O_ {
  const auto turn = [](auto x, auto angle) {
    return rope_partial<d_k, front, rest>(x, [&](auto y) {
      return rope_interleaved<front, two, quarter>(y, cos(angle), sin(angle));
    });
  };
  auto q = turn(Q, rope_angle<seq, quarter>(100));
  auto k = turn(K, rope_angle<kv, quarter>(100));
  return dot<kv>(softmax<kv>(mask(qk_norm<d_k>(q, k, 7), causal<seq, kv>)), V);
});

// T5, and Gemma 2's cap.
inline constexpr auto t5_and_cap =
    kernel<"t5_and_cap">([](Q_ Q, K_ K, V_ V, param<"table", heads, buckets> table,
                            param<"near", heads, distances> near) -> O_ {
      auto scores = softcap(dot<d_k>(Q, K), 5) + t5_bias<seq, kv, buckets>(table) +
                    relative_bias<seq, kv, distances>(near);
      return dot<kv>(softmax<kv>(scores), V);
    });

// BLOOM's slopes, documents, global positions.
inline constexpr auto documents = kernel<"documents">(
    [](Q_ Q, K_ K, V_ V, in<"id", i32, batch, seq> id, in<"len", i32, batch> len) -> O_ {
      auto scores = dot<d_k>(Q, K) / sqrt(d_k) + alibi<seq, kv>(alibi_slopes(heads));
      auto keep = (document<seq, kv>(id) or global_window<seq, kv>(5, 2)) and padding<kv>(len);
      return dot<kv>(softmax<kv>(mask(scores, keep)), V);
    });

// Positions renamed, split, merged and repeated: slopes of grouped heads, chunks, a damped product.
inline constexpr auto viewed_positions = kernel<"viewed_positions">(
    [](in<"Q", batch, q_heads, seq, d_k> Q, K_ K, V_ V, param<"gamma", heads> gamma)
        -> outs<out<"O", batch, q_heads, seq, d_v>, out<"P", batch, heads, kv>> {
      auto bias = split<q_heads, heads, group>(alibi<seq, kv>(alibi_slopes(q_heads)));
      auto scores = dot<d_k>(split<q_heads, heads, group>(Q), K) / sqrt(d_k) + bias;
      auto chunks = document<seq, kv>(cast<i32>((index(seq) + 0.5) / 5));
      auto weights = softmax<kv>(mask(scores, chunks or causal<seq, kv>));
      auto damped = pow(sigmoid(gamma), broadcast<heads>(abs(index(kv) - 3)));
      auto features = merge<d_k, two, half>(index(two) * index(half));
      return {merge<q_heads, heads, group>(dot<kv>(weights, V)),
              sum<d_k>(K * (features * 0.125)) * damped};
    });

inline constexpr auto luong =
    kernel<"luong">([](in<"h", batch, seq, d_k> h, in<"s", batch, mem, d_v> source,
                       param<"W", both, hidden> W, param<"v", hidden> v, param<"W2", d_k, d_v> W2)
                        -> outs<out<"joined", batch, seq, d_v>, out<"general", batch, seq, d_v>> {
      return {dot<mem>(softmax<mem>(luong_concat<both, d_k, d_v, hidden>(h, source, W, v)), source),
              dot<mem>(softmax<mem>(luong_general<d_k, d_v>(h, W2, source)), source)};
    });

inline constexpr auto additive = kernel<"additive">(
    [](in<"h", batch, seq, d_k> h, in<"s", batch, mem, d_v> source, param<"W", d_k, hidden> W,
       param<"U", d_v, hidden> U, param<"v", hidden> v,
       in<"len", i32, batch> len) -> out<"C", batch, seq, d_v> {
      auto scores = bahdanau<seq, mem, d_k, d_v, hidden>(h, source, W, U, v);
      return dot<mem>(softmax<mem>(mask(scores, padding<mem>(len))), source);
    });

inline constexpr auto pooled =
    kernel<"pooled">([](in<"X", batch, mem, d_k> X, param<"q", queries, d_k> q,
                        in<"len", i32, batch> len) -> out<"Y", batch, queries, d_k> {
      return attention_pooling<d_k, mem>(X, q, padding<mem>(len));
    });

inline constexpr auto sigmoids = kernel<"sigmoids">([](Q_ Q, K_ K, V_ V) -> O_ {
  return sigmoid_attention<kv>(mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, kv>), V, -2.5);
});

inline constexpr auto two_softmaxes = kernel<"two_softmaxes">(
    [](Q_ Q, K_ K, in<"Q2", batch, heads, seq, d_k> Q2, in<"K2", batch, heads, kv, d_k> K2, V_ V,
       param<"lambda", heads> lambda) -> O_ {
      auto causally = [](auto x) { return mask(x, causal<seq, kv>); };
      return differential<kv>(causally(dot<d_k>(Q, K) / sqrt(d_k)),
                              causally(dot<d_k>(Q2, K2) / sqrt(d_k)), V, lambda);
    });

inline constexpr auto talking = kernel<"talking">(
    [](Q_ Q, K_ K, V_ V, param<"P", heads, mixed> P, param<"W", mixed, heads> W) -> O_ {
      return talking_heads<kv, heads, mixed>(dot<d_k>(Q, K) / sqrt(d_k), P, W, V, causal<seq, kv>);
    });

inline constexpr auto linear = kernel<"linear">([](Q_ Q, K_ K, V_ V) -> O_ {
  return linear_attention<d_k, kv>(elu_plus_one(Q), elu_plus_one(K), V, 1e-3);
});

inline constexpr auto linear_causal = kernel<"linear_causal">(
    [](Q_ Q, in<"K", batch, heads, seq, d_k> K, in<"V", batch, heads, seq, d_v> V) -> O_ {
      return causal_linear_attention<d_k, seq, d_v>(elu_plus_one(Q), elu_plus_one(K), V, 1e-3);
    });

inline constexpr auto landmarks = kernel<"landmarks">(
    [](Q_ Q, K_ K, V_ V) -> O_ { return nystrom<d_k, seq, kv, l, m, s, segment, 2>(Q, K, V); });

inline constexpr auto compressed = kernel<"compressed">(
    [](Q_ Q, in<"R", batch, heads, seq, rotated> R, in<"C", batch, kv, latent> C,
       in<"r", batch, kv, rotated> r, param<"Wk", latent, heads, d_k> Wk,
       param<"Wv", latent, heads, d_v> Wv) -> O_ {
      return latent_attention<latent, d_k, rotated, kv>(Q, R, C, r, Wk, Wv, causal<seq, kv>);
    });

inline constexpr auto three_widths =
    kernel<"three_widths">([](in<"X", batch, seq, d_model> X, in<"E", batch, mem, d_e> E,
                              param<"Wq", d_model, heads, d_k> Wq, param<"Wk", d_e, heads, d_k> Wk,
                              param<"Wv", d_e, heads, d_v> Wv, param<"Wo", heads, d_v, d_model> Wo,
                              param<"gamma", d_model> gamma) -> out<"Y", batch, seq, d_model> {
      auto x = rms_norm<d_model>(X, gamma);
      return X + cross_attention<d_model, d_e, mem, heads, d_k, d_v>(x, E, Wq, Wk, Wv, Wo);
    });

}  // namespace zoo
