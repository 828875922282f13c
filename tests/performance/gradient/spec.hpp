// SPDX-License-Identifier: BSL-1.0
#pragma once
// Attentions of which forward and backward are timed.
#include <qkv/dsl.hpp>

namespace gradient_bench {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads"> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
template <long N>
inline constexpr axis<"d", N> d;

template <long D>
using queries = in<"Q", batch, heads, seq, d<D>>;
template <long D>
using keyed = in<"K", batch, heads, kv, d<D>>;
template <long D>
using valued = in<"V", batch, heads, kv, d<D>>;
template <long D>
using result = out<"O", batch, heads, seq, d<D>>;

template <long D>
inline constexpr auto full = [](queries<D> Q, keyed<D> K, valued<D> V) -> result<D> {
  return scaled_dot_product<d<D>, kv>(Q, K, V);
};
template <long D>
inline constexpr auto masked = [](queries<D> Q, keyed<D> K, valued<D> V) -> result<D> {
  return scaled_dot_product<d<D>, kv>(Q, K, V, causal<seq, kv>);
};
inline constexpr auto full_d64 = kernel<"full_d64">(full<64>);
inline constexpr auto full_d128 = kernel<"full_d128">(full<128>);
inline constexpr auto causal_d64 = kernel<"causal_d64">(masked<64>);
inline constexpr auto causal_d128 = kernel<"causal_d128">(masked<128>);
inline constexpr auto full_d64_step = gradient<full_d64>;
inline constexpr auto full_d128_step = gradient<full_d128>;
inline constexpr auto causal_d64_step = gradient<causal_d64>;
inline constexpr auto causal_d128_step = gradient<causal_d128>;
}  // namespace gradient_bench
