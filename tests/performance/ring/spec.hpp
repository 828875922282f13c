// SPDX-License-Identifier: BSL-1.0
#pragma once
// Attention over tokens that several machines share.
#include <qkv/dsl.hpp>

namespace ring_bench {
using namespace qkv;
inline constexpr batch_axis<"heads", 8> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d", 64> d;

using Q_ = in<"Q", heads, seq, d>;
using K_ = in<"K", heads, kv, d>;
using V_ = in<"V", heads, kv, d>;
using O_ = out<"O", heads, seq, d>;

inline constexpr auto causal = kernel<"causal">([](Q_ Q, K_ K, V_ V) -> O_ {
  return dot<kv>(softmax<kv>(mask(dot<d>(Q, K) / sqrt(d), qkv::causal<seq, kv>)), V);
});
inline constexpr auto full = kernel<"full">(
    [](Q_ Q, K_ K, V_ V) -> O_ { return dot<kv>(softmax<kv>(dot<d>(Q, K) / sqrt(d)), V); });
inline constexpr auto with_lse =
    kernel<"with_lse">([](Q_ Q, K_ K, V_ V) -> outs<O_, out<"lse", heads, seq>> {
      auto s = dot<d>(Q, K) / sqrt(d);
      return {dot<kv>(softmax<kv>(s), V), logsumexp<kv>(s)};
    });
inline constexpr auto step = gradient<causal>;
inline constexpr std::int64_t window_size = 1024;
inline constexpr auto window = kernel<"window">([](Q_ Q, K_ K, V_ V) -> O_ {
  auto keep = index(kv) <= index(seq) && index(seq) - index(kv) < window_size;
  return dot<kv>(softmax<kv>(mask(dot<d>(Q, K) / sqrt(d), keep)), V);
});
inline constexpr auto documents =
    kernel<"documents">([](Q_ Q, K_ K, V_ V, in<"document", i32, seq> document) -> O_ {
      auto keep = qkv::causal<seq, kv> && document == rename<seq, kv>(document);
      return dot<kv>(softmax<kv>(mask(dot<d>(Q, K) / sqrt(d), keep)), V);
    });
}  // namespace ring_bench
