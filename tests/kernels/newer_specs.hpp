// SPDX-License-Identifier: BSL-1.0
#pragma once
// One kernel with each kind of stage, for CPUs beyond AVX-512.
#include <qkv/dsl.hpp>

namespace newer {

using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 2> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_model", 48> d_model;
inline constexpr axis<"d_out", 40> d_out;
inline constexpr axis<"d_k", 24> d_k;
inline constexpr alias<"d_v", d_k> d_v;

inline constexpr auto causal_bf16 = kernel<"causal_bf16">(
    [](in<"Q", bf16, batch, heads, seq, d_k> Q, in<"K", bf16, batch, heads, kv, d_k> K,
       in<"V", bf16, batch, heads, kv, d_v> V) -> out<"O", bf16, batch, heads, seq, d_v> {
      auto scores = dot<d_k>(cast<f32>(Q), cast<f32>(K)) / sqrt(d_k);
      return cast<bf16>(dot<kv>(softmax<kv>(mask(scores, causal<seq, kv>)), cast<f32>(V)));
    });

inline constexpr auto layer = kernel<"layer">(
    [](in<"X", batch, seq, d_model> X, param<"W", d_model, d_out> W, param<"g", d_model> g,
       param<"b", d_model> b) -> out<"Y", batch, seq, d_out> {
      return gelu(dot<d_model>(layer_norm<d_model>(X, g, b), W));
    });

inline constexpr auto decay =
    kernel<"decay">([](in<"X", batch, seq, d_model> X, in<"s0", batch, d_model> s0,
                       param<"a", d_model> a) -> out<"Y", batch, seq, d_model> {
      auto [states, last] = scan<seq>(s0, [&](auto s, auto x) { return s * sigmoid(a) + x; }, X);
      return states;
    });

}  // namespace newer
