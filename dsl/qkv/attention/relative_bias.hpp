// SPDX-License-Identifier: BSL-1.0
#pragma once
// A learned bias for each distance, clipped (Shaw, Uszkoreit, Vaswani 2018, as one number a
// distance).
#include <qkv/attention/causal.hpp>
#include <qkv/core/formula.hpp>
#include <qkv/ops/cast.hpp>
#include <qkv/ops/take.hpp>

namespace qkv {

// Computes: table[.., key - query + R], where distance 0 is at R = size(distances) / 2, rounded
//           down; distances beyond the table use its ends. Added to scores. Over a cache:
//           relative_bias<seq, slots, distances>(table, length), as sliding_window.
// Shapes:   table[.., distances] -> [.., key, query] and those of length and count
// Numerics: no arithmetic.
// Errors:   the table lacks distances; as sliding_window. Query and key swapped: softmax requires
//           the key as its axis.
template <an_axis auto Query, an_axis auto Key, an_axis auto Distances, align Where = align::unsaid>
inline constexpr auto relative_bias = formula<"relative_bias(table[, length[, count]])">(
    [](traced auto table, operand auto... cache) {
      constexpr detail::rule::carries<"relative_bias"> has{core::axes_of<Query, Key, Distances>(),
                                                           core::axes_of<Distances>()};
      auto after = detail::distance<Query, Key, Where>(cache...);
      auto entry =
          take<Distances>(detail::expect<has>(table), after + cast<i32>(size(Distances) * 0.5));
      return detail::relating<core::relation::relative_bias, Query, Key, Where>(entry, cache...);
    });

}  // namespace qkv
