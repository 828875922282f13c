// SPDX-License-Identifier: BSL-1.0
#pragma once
// Six ways to attend, whose sheets say what each costs.
#include <qkv/dsl.hpp>

namespace my {
using namespace qkv;
inline constexpr batch_axis<"heads", 8> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_k", 64> d_k;
inline constexpr axis<"d_v", 64> d_v;
inline constexpr axis<"r", 8> r;           // rank of the values
inline constexpr axis<"l", 64> l;          // landmarks
inline constexpr axis<"segment"> segment;  // queries of a landmark

using queries = in<"Q", heads, seq, d_k>;
using keys = in<"K", heads, kv, d_k>;
using values = in<"V", heads, kv, d_v>;
using result = out<"O", heads, seq, d_v>;

// Every query against every key.
inline constexpr auto full_attention = kernel<"full_attention">(
    [](queries Q, keys K, values V) -> result { return scaled_dot_product<d_k, kv>(Q, K, V); });

// Values of rank r, written as values: the order of contraction is chosen by cost.
inline constexpr auto low_rank = kernel<"low_rank">(
    [](queries Q, keys K, in<"U", heads, kv, r> U, in<"A", heads, r, d_v> A) -> result {
      auto V = let<"V">(dot<r>(U, A));
      return scaled_dot_product<d_k, kv>(Q, K, V);
    });

// A feature map in the place of softmax (Katharopoulos et al. 2020).
inline constexpr auto linear = kernel<"linear">([](queries Q, keys K, values V) -> result {
  return linear_attention<d_k, kv>(elu_plus_one(Q), elu_plus_one(K), V);
});

// Queries and keys meet at landmarks, the means of equal segments of the queries. This is agent
// attention (Han et al. 2024); Nystromformer puts a pseudo-inverse between the two factors.
inline constexpr auto landmarks = kernel<"landmarks">([](queries Q, keys K, values V) -> result {
  auto L = let<"L">(mean<segment>(split<seq, l, segment>(Q)));
  auto seen = let<"seen">(scaled_dot_product<d_k, kv>(L, K, V));
  return scaled_dot_product<d_k, l>(Q, L, seen);
});

// One query of each head against the keys that a cache holds.
inline constexpr auto cached =
    kernel<"cached">([](in<"q", heads, d_k> q, in<"K", heads, kv, d_k> K, in<"V", heads, kv, d_v> V,
                        in<"length", i32> length) -> out<"o", heads, d_v> {
      return scaled_dot_product<d_k, kv>(q, K, V, padding<kv>(length));
    });

// The same where all heads share their keys and values (Shazeer 2019).
inline constexpr auto multi_query =
    kernel<"multi_query">([](in<"q", heads, d_k> q, in<"K", kv, d_k> K, in<"V", kv, d_v> V,
                             in<"length", i32> length) -> out<"o", heads, d_v> {
      return scaled_dot_product<d_k, kv>(q, K, V, padding<kv>(length));
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   auto V = let<"V">(dot<d_v>(U, A));
//     dot<d_v>: no axis d_v in U
//
//   return linear_attention<d_k, kv>(elu_plus_one(Q), K, V);
//     elu_plus_one(Q) went through a feature map, K did not
//
//   auto seen = let<"seen">(scaled_dot_product<d_k, kv>(Q, L, V));
//     softmax<kv>: no axis kv in dot(Q, L)
}  // namespace my
