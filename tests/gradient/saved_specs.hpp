// SPDX-License-Identifier: BSL-1.0
#pragma once
// Kernels that save steps for their gradients.
#include <qkv/dsl.hpp>

namespace saved_kernels {
using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 2> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_model", 24> d_model;
inline constexpr axis<"d_k", 16> d_k;
inline constexpr axis<"d_v", 12> d_v;

inline constexpr auto attention =
    kernel<"attention">([](in<"Q", batch, heads, seq, d_k> Q, in<"K", batch, heads, kv, d_k> K,
                           in<"V", batch, heads, kv, d_v> V) -> out<"O", batch, heads, seq, d_v> {
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, kv>);
      return dot<kv>(softmax<kv>(s), V);
    });
inline constexpr auto attention_step = gradient<attention>;

inline constexpr auto layer =
    kernel<"layer">([](in<"X", batch, seq, d_model> X, param<"Wq", d_model, heads, d_k> Wq,
                       param<"Wk", d_model, heads, d_k> Wk, param<"Wv", d_model, heads, d_v> Wv,
                       param<"Wo", heads, d_v, d_model> Wo) -> out<"Y", batch, seq, d_model> {
      auto K = dot<d_model>(rename<seq, kv>(X), Wk);
      auto V = dot<d_model>(rename<seq, kv>(X), Wv);
      auto s = mask(dot<d_k>(dot<d_model>(X, Wq), K) / sqrt(d_k), causal<seq, kv>);
      return X + dot<heads, d_v>(dot<kv>(softmax<kv>(s), V), Wo);
    });
inline constexpr auto layer_step = gradient<layer, "X", "Wq">;
// Its states are matrices, which are not kept: a gradient computes them again by chunks.
inline constexpr auto recurrence =
    kernel<"recurrence">([](in<"S", batch, heads, d_k, d_v> S, in<"Q", batch, heads, seq, d_k> Q,
                            in<"K", batch, heads, seq, d_k> K, in<"V", batch, heads, seq, d_v> V,
                            in<"g", batch, heads, seq> g) -> out<"O", batch, heads, seq, d_v> {
      auto [o, last] = gated_attention<d_k, seq, d_v>(S, Q, K, V, log(sigmoid(g)));
      return o;
    });
inline constexpr auto recurrence_step = gradient<recurrence>;
// It was built without SAVED.
inline constexpr auto squares =
    kernel<"squares">([](in<"X", seq> X) -> out<"S"> { return sum<seq>(X * X); });
}  // namespace saved_kernels
