// SPDX-License-Identifier: BSL-1.0
#pragma once
// The smallest specs: the mean of values, weighted by one score each; values doubled.
#include <qkv/dsl.hpp>

namespace mine {
using namespace qkv;
inline constexpr axis<"items"> items;
inline constexpr axis<"d", 4> d;

inline constexpr auto pooled =
    kernel<"pooled">([](in<"S", items> S, in<"V", items, d> V) -> out<"O", d> {
      return dot<items>(softmax<items>(S), V);
    });

inline constexpr auto doubled =
    kernel<"doubled">([](in<"V", items, d> V) -> out<"O", items, d> { return V * 2.f; });
}  // namespace mine
