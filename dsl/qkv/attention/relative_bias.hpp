#pragma once
// A learned bias for each distance, clipped (Shaw, Uszkoreit, Vaswani 2018, as one number a
// distance).
#include <qkv/attention/causal.hpp>
#include <qkv/ops/cast.hpp>
#include <qkv/ops/take.hpp>

namespace qkv {
namespace detail {

// A table looked up by the distance between query and key.
template <str Name, an_axis auto Query, an_axis auto Key, an_axis auto Entries, align Where,
          class Table>
struct distance_table_check {
  static constexpr text why() {
    message m;
    const text t = distance_check<Name, Query, Key, Where>::why();
    if (!t.empty()) return t;
    const call_name call{Name.view(), axes_of<Query, Key, Entries>()};
    if (!needs_input(m, call, of<Table>)) lacks_axis(m, call, axes_of<Entries>(), of<Table>);
    return m;
  }
};

}  // namespace detail

// Computes: table[.., key - query + R], where distance 0 stands at R = size(distances) / 2, rounded
//           down; what lies beyond the table takes its ends. Added to scores.
// Shapes:   table[.., distances] -> [.., key, query]
// Numerics: no arithmetic.
// Errors:   the table lacks distances; sizes that are unrelated, and the alignment not said.
template <an_axis auto Query, an_axis auto Key, an_axis auto Distances, align Where = align::unsaid,
          traced Table>
  requires detail::passes<
      detail::distance_table_check<"relative_bias", Query, Key, Distances, Where, Table>>
constexpr auto relative_bias(Table table) {
  return take<Distances>(table,
                         detail::distance<Query, Key, Where>() + cast<i32>(size(Distances) * 0.5));
}
template <an_axis auto Query, an_axis auto Key, an_axis auto Distances, align Where = align::unsaid,
          traced Table,
          class Err = detail::refusal<
              detail::distance_table_check<"relative_bias", Query, Key, Distances, Where, Table>>>
Err relative_bias(Table);

}  // namespace qkv
