// SPDX-License-Identifier: BSL-1.0
#pragma once
// Why scores are divided by sqrt(d_k): the scores of random queries and keys, and the weights that
// come of them.
#include <qkv/dsl.hpp>

namespace my {
using namespace qkv;
inline constexpr axis<"query"> query;
inline constexpr axis<"key"> key;
inline constexpr axis<"d_k"> d_k;

// A sum of d_k products of variance 1 has the variance d_k (Vaswani et al. 2017, section 3.2.1).
inline constexpr auto scaling = kernel<"scaling">(
    [](in<"Q", query, d_k> Q,
       in<"K", key, d_k> K) -> outs<out<"variance">, out<"scaled_variance">, out<"largest", query>,
                                    out<"scaled_largest", query>> {
      auto raw = let<"raw">(dot<d_k>(Q, K));
      auto scaled = let<"scaled">(raw / sqrt(d_k));
      return {mean<query, key>(raw * raw), mean<query, key>(scaled * scaled),
              max<key>(softmax<key>(raw)), max<key>(softmax<key>(scaled))};
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   auto scaled = let<"scaled">(raw / d_k);
//     d_k is an axis, not a number
//
//   auto raw = let<"raw">(dot<query>(Q, K));
//     dot<query>: no axis query in K
}  // namespace my
