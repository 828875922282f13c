#pragma once
// A window, with some positions that see all others: Longformer (Beltagy, Peters, Cohan 2020).
#include <qkv/attention/causal.hpp>

namespace qkv {

// Computes: whether key and query are less than width positions apart, or one of them is among the
//           first `globals`.
// Shapes:   [query, key] and those of width and globals
// Numerics: b8.
// Errors:   as sliding_window; query and key swapped where their sizes are unrelated.
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid, operand Width,
          operand Globals, operand... Cache>
  requires detail::passes<
      detail::distance_check<relation::global_window, Query, Key, Where, Cache...>>
constexpr auto global_window(Width width, Globals globals, Cache... cache) {
  auto near = sliding_window<Query, Key, Where>(width, cache...);
  auto query = detail::query_position<Query, Key, Where>(cache...);
  return detail::relating<relation::global_window, Query, Key, Where>(
      near || index(Key) < globals || query < globals, cache...);
}
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid, operand Width,
          operand Globals, operand... Cache,
          class Err = detail::refusal<
              detail::distance_check<relation::global_window, Query, Key, Where, Cache...>>>
Err global_window(Width, Globals, Cache...);

}  // namespace qkv
