// SPDX-License-Identifier: BSL-1.0
#pragma once
// Dropout: of weights, in an attention that streams, and of activations.
#include <qkv/dsl.hpp>

namespace dropped {
using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 3> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"mem"> mem;
inline constexpr axis<"d_model", 48> d_model;
inline constexpr axis<"d_k", 32> d_k;
inline constexpr axis<"d_v", 64> d_v;

using Q_ = in<"Q", batch, heads, seq, d_k>;
using K_ = in<"K", batch, heads, kv, d_k>;
using V_ = in<"V", batch, heads, kv, d_v>;
using seed_ = in<"seed", i32>;

inline constexpr auto dropped_weights = kernel<"dropped_weights">(
    [](Q_ Q, K_ K, V_ V,
       seed_ seed) -> outs<out<"O", batch, heads, seq, d_v>, out<"lse", batch, heads, seq>> {
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, kv>);
      return {dot<kv>(dropout<0.2>(softmax<kv>(s), seed), V), logsumexp<kv>(s)};
    });

// Of a difference of weights, which are not a softmax's.
inline constexpr auto dropped_difference = kernel<"dropped_difference">(
    [](in<"Q", batch, seq, d_k> Q, in<"K", batch, mem, d_k> K, in<"K2", batch, mem, d_k> K2,
       in<"V", batch, mem, d_v> V) -> out<"O", batch, seq, d_v> {
      auto w1 = softmax<mem>(dot<d_k>(Q, K) / sqrt(d_k));
      auto w2 = normalize<mem>(sigmoid(dot<d_k>(Q, K2)));
      return dot<mem>(dropout<0.5>(w1 - 0.3 * w2, 42), V);
    });

// Weights times what the call gives at each pair.
inline constexpr auto gated_pairs = kernel<"gated_pairs">(
    [](in<"Q", batch, seq, d_k> Q, in<"K", batch, mem, d_k> K, in<"V", batch, mem, d_v> V,
       in<"G", seq, mem> G, in<"of_key", batch, mem> of_key) -> out<"O", batch, seq, d_v> {
      return dot<mem>(softmax<mem>(dot<d_k>(Q, K)) * G * of_key, V);
    });

// Gates made of the weights, or of their sum: stored.
inline constexpr auto gated_by_themselves = kernel<"gated_by_themselves">(
    [](in<"Q", batch, seq, d_k> Q, in<"K", batch, mem, d_k> K, in<"V", batch, mem, d_v> V)
        -> outs<out<"O", batch, seq, d_v>, out<"P", batch, seq, d_v>, out<"R", batch, seq, d_v>> {
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
      auto w = softmax<mem>(s);
      return {dot<mem>(w * w, V), dot<mem>(w * sigmoid(s - logsumexp<mem>(s)), V), dot<mem>(w, V)};
    });

// Weights of which one product takes a part, and a gate made of the same scores.
inline constexpr auto gated_by_scores = kernel<"gated_by_scores">(
    [](in<"Q", batch, seq, d_k> Q, in<"K", batch, mem, d_k> K,
       in<"V", batch, mem, d_v> V) -> outs<out<"O", batch, seq, d_v>, out<"P", batch, seq, d_v>> {
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
      auto w = softmax<mem>(s);
      return {dot<mem>(w * sigmoid(s), V), dot<mem>(w, V)};
    });

// Row 19 of the zoo: a layer's residual.
inline constexpr auto dropped_residual = kernel<"dropped_residual">(
    [](in<"X", batch, seq, d_model> X, param<"W", d_model, d_v> W, param<"W2", d_v, d_model> W2,
       param<"g", d_model> g, param<"b", d_model> b, seed_ seed) -> out<"Y", batch, seq, d_model> {
      auto hidden = dropout<0.3>(relu(dot<d_model>(X, W)), seed);
      return layer_norm<d_model>(X + dropout<0.1>(dot<d_v>(hidden, W2), seed + 1), g, b);
    });

inline constexpr auto numbers =
    kernel<"numbers">([](in<"X", batch, heads, seq, mem> X,
                         seed_ seed) -> outs<out<"u", batch, heads, seq, mem>, out<"row", seq>> {
      return {X * 0 + uniform<batch, heads, seq, mem>(seed),
              sum<batch, heads, mem>(X) * 0 + uniform<seq>(seed)};
    });

}  // namespace dropped
