#pragma once
// A window, with some positions that see all others: Longformer (Beltagy, Peters, Cohan 2020).
#include <qkv/attention/causal.hpp>

namespace qkv {

// Computes: whether key and query are less than width positions apart, or one of them is among the
//           first `globals`.
// Shapes:   [query, key] and those of width and globals
// Numerics: b8.
// Errors:   sizes that are unrelated, and the alignment not said.
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid, operand Width,
          operand Globals>
  requires detail::passes<detail::distance_check<"global_window", Query, Key, Where>>
constexpr auto global_window(Width width, Globals globals) {
  return sliding_window<Query, Key, Where>(width) || index(Key) < globals ||
         detail::query_position<Query, Key, Where>() < globals;
}
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid, operand Width,
          operand Globals,
          class Err = detail::refusal<detail::distance_check<"global_window", Query, Key, Where>>>
Err global_window(Width, Globals);

}  // namespace qkv
