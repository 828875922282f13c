#pragma once
// A learned bias for each distance, clipped (Shaw, Uszkoreit, Vaswani 2018, as one number a
// distance).
#include <qkv/attention/causal.hpp>
#include <qkv/ops/cast.hpp>
#include <qkv/ops/take.hpp>

namespace qkv {
namespace detail {

// A table looked up by the distance between query and key.
template <relation By, an_axis auto Query, an_axis auto Key, an_axis auto Entries, align Where,
          class Table, class... Cache>
struct distance_table_check {
  static constexpr text why() {
    message m;
    const text t = distance_check<By, Query, Key, Where, Cache...>::why();
    if (!t.empty()) return t;
    const call_name call{name_of(By), axes_of<Query, Key, Entries>()};
    if (!needs_input(m, call, of<Table>)) lacks_axis(m, call, axes_of<Entries>(), of<Table>);
    return m;
  }
};

}  // namespace detail

// Computes: table[.., key - query + R], where distance 0 stands at R = size(distances) / 2, rounded
//           down; what lies beyond the table takes its ends. Added to scores. Over a
//           cache: relative_bias<seq, slots, distances>(table, length), as sliding_window.
// Shapes:   table[.., distances] -> [.., key, query] and those of length and count
// Numerics: no arithmetic.
// Errors:   the table lacks distances; as sliding_window. Query and key swapped: softmax asks for
//           the key as its axis.
template <an_axis auto Query, an_axis auto Key, an_axis auto Distances, align Where = align::unsaid,
          traced Table, operand... Cache>
  requires detail::passes<detail::distance_table_check<relation::relative_bias, Query, Key,
                                                       Distances, Where, Table, Cache...>>
constexpr auto relative_bias(Table table, Cache... cache) {
  auto after = detail::distance<Query, Key, Where>(cache...);
  return detail::relating<relation::relative_bias, Query, Key, Where>(
      take<Distances>(table, after + cast<i32>(size(Distances) * 0.5)), cache...);
}
template <an_axis auto Query, an_axis auto Key, an_axis auto Distances, align Where = align::unsaid,
          traced Table, operand... Cache,
          class Err = detail::refusal<detail::distance_table_check<
              relation::relative_bias, Query, Key, Distances, Where, Table, Cache...>>>
Err relative_bias(Table, Cache...);

}  // namespace qkv
