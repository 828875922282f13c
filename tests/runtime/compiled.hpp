#pragma once
// Two small kernels that really are compiled: what the runtime promises about threads, memory and devices is tested on them.
#include <qkv/dsl.hpp>

namespace compiled {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 4> heads;
inline constexpr axis<"seq"> seq;
inline constexpr axis<"kv"> kv;
inline constexpr axis<"d_model", 96> d_model;
inline constexpr axis<"d", 32> d;

inline constexpr auto attend =
    kernel<"attend">([](in<"Q", batch, heads, seq, d> Q, in<"K", batch, heads, kv, d> K,
                        in<"V", batch, heads, kv, d> V) -> out<"O", batch, heads, seq, d> {
      return dot<kv>(softmax<kv>(dot<d>(Q, K) / sqrt(d)), V);
    });

inline constexpr auto project =
    kernel<"project">([](in<"X", batch, seq, d_model> X, param<"W", d_model, heads, d> W,
                         param<"b", heads, d> b) -> out<"Y", batch, heads, seq, d> {
      return dot<d_model>(X, W) + b;
    });

}  // namespace compiled
