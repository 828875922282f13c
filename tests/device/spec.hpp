// SPDX-License-Identifier: BSL-1.0
#pragma once
// The kernels that are timed on GPUs: attention of prompts, a step of decoding, a projection.
#include "tests/support/attention_arguments.hpp"

namespace bench {
using namespace attention_arguments;
inline constexpr axis<"inner"> inner;
inline constexpr axis<"columns"> columns;

template <auto T, long D>
inline constexpr auto attention =
    [](queries<T, D> Q, keyed<T, keys, D> K, valued<T, keys, D> V) -> result<T, D> {
  return scaled_dot_product<d<D>, keys>(Q, K, V);
};
template <auto T, long D>
inline constexpr auto self_attention =
    [](queries<T, D> Q, keyed<T, kv, D> K, valued<T, kv, D> V) -> result<T, D> {
  return scaled_dot_product<d<D>, kv>(Q, K, V, causal<seq, kv>);
};

inline constexpr auto sdpa_d64 = kernel<"sdpa_d64">(attention<f32, 64>);
inline constexpr auto sdpa_d128 = kernel<"sdpa_d128">(attention<f32, 128>);
inline constexpr auto sdpa_causal_d64 = kernel<"sdpa_causal_d64">(self_attention<f32, 64>);
inline constexpr auto sdpa_causal_d128 = kernel<"sdpa_causal_d128">(self_attention<f32, 128>);
inline constexpr auto sdpa_bf16_d64 = kernel<"sdpa_bf16_d64">(attention<bf16, 64>);
inline constexpr auto sdpa_bf16_d128 = kernel<"sdpa_bf16_d128">(attention<bf16, 128>);
inline constexpr auto sdpa_causal_bf16_d64 =
    kernel<"sdpa_causal_bf16_d64">(self_attention<bf16, 64>);
inline constexpr auto sdpa_causal_bf16_d128 =
    kernel<"sdpa_causal_bf16_d128">(self_attention<bf16, 128>);
// Training: queries, keys and values to their gradients.
inline constexpr auto train_d64 = gradient<sdpa_d64>;
inline constexpr auto train_bf16_d64 = gradient<sdpa_bf16_d64>;
inline constexpr auto train_bf16_d128 = gradient<sdpa_bf16_d128>;
inline constexpr auto train_causal_bf16_d128 = gradient<sdpa_causal_bf16_d128>;
// A step of decoding where seq is 1.
template <auto T>
inline constexpr auto grouped =
    [](in<"Q", T, batch, heads, group, seq, d<128>> Q, keyed<T, keys, 128> K,
       valued<T, keys, 128> V) -> out<"O", T, batch, heads, group, seq, d<128>> {
  return scaled_dot_product<d<128>, keys>(Q, K, V);
};
inline constexpr auto grouped_d128 = kernel<"grouped_d128">(grouped<f32>);
inline constexpr auto grouped_bf16_d128 = kernel<"grouped_bf16_d128">(grouped<bf16>);
inline constexpr auto projection = kernel<"projection">(
    [](in<"X", batch, seq, inner> X,
       param<"W", inner, columns> W) -> out<"Y", batch, seq, columns> { return dot<inner>(X, W); });
inline constexpr auto projection_bf16 = kernel<"projection_bf16">(
    [](in<"X", bf16, batch, seq, inner> X,
       param<"W", bf16, inner, columns> W) -> out<"Y", bf16, batch, seq, columns> {
      return cast<bf16>(dot<inner>(X, W));
    });
}  // namespace bench
