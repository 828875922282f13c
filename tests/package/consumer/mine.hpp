#pragma once
// The smallest spec: the mean of values, weighted by one score each.
#include <qkv/dsl.hpp>

namespace mine {
using namespace qkv;
inline constexpr axis<"items"> items;
inline constexpr axis<"d", 4> d;

inline constexpr auto pooled =
    kernel<"pooled">([](in<"S", items> S, in<"V", items, d> V) -> out<"O", d> {
      return dot<items>(softmax<items>(S), V);
    });
}  // namespace mine
