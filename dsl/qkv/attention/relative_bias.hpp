#pragma once
// A learned bias for each distance, clipped (Shaw, Uszkoreit, Vaswani 2018, as one number a
// distance).
#include <qkv/attention/causal.hpp>
#include <qkv/core/formula.hpp>
#include <qkv/ops/cast.hpp>
#include <qkv/ops/take.hpp>

namespace qkv {

namespace detail::rule {

// A table that is looked up by the distance between query and key.
template <relation By>
struct table {
  axes call{}, entries{};
  constexpr text check(const info &x) const {
    message m;
    lacks_axis(m, {name_of(By), call}, entries, x);
    return m;
  }
};

}  // namespace detail::rule

// Computes: table[.., key - query + R], where distance 0 stands at R = size(distances) / 2, rounded
//           down; what lies beyond the table takes its ends. Added to scores. Over a
//           cache: relative_bias<seq, slots, distances>(table, length), as sliding_window.
// Shapes:   table[.., distances] -> [.., key, query] and those of length and count
// Numerics: no arithmetic.
// Errors:   the table lacks distances; as sliding_window. Query and key swapped: softmax asks for
//           the key as its axis.
template <an_axis auto Query, an_axis auto Key, an_axis auto Distances, align Where = align::unsaid>
inline constexpr auto relative_bias = formula<"relative_bias(table[, length[, count]])">(
    [](traced auto table, operand auto... cache) {
      using of_distances = detail::rule::table<relation::relative_bias>;
      constexpr of_distances has{axes_of<Query, Key, Distances>(), axes_of<Distances>()};
      auto after = detail::distance<Query, Key, Where>(cache...);
      auto entry =
          take<Distances>(detail::expect<has>(table), after + cast<i32>(size(Distances) * 0.5));
      return detail::relating<relation::relative_bias, Query, Key, Where>(entry, cache...);
    });

}  // namespace qkv
