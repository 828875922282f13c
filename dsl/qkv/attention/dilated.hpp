#pragma once
// Every n-th key: dilated windows (Beltagy, Peters, Cohan 2020), strided sparse attention (Child et
// al. 2019).
#include <qkv/attention/causal.hpp>
#include <qkv/ops/cast.hpp>

namespace qkv {

// Computes: whether the distance between key and query is a multiple of step, which is at least 1.
//           With causal and sliding_window: a dilated window. Over a cache:
//           dilated<seq, slots>(step, length).
// Shapes:   [key, query] and those of step, length and count
// Numerics: b8; exact for distances below 2^22.
// Errors:   as sliding_window.
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid, operand Step,
          operand... Cache>
  requires detail::passes<detail::distance_check<relation::dilated, Query, Key, Where, Cache...>>
constexpr auto dilated(Step step, Cache... cache) {
  auto far = abs(detail::distance<Query, Key, Where>(cache...));
  return detail::relating<relation::dilated, Query, Key, Where>(
      far == step * cast<i32>(far / step + 0.5),
      cache...);  // rounded: a division may be off by an ulp
}
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid, operand Step,
          operand... Cache,
          class Err = detail::refusal<
              detail::distance_check<relation::dilated, Query, Key, Where, Cache...>>>
Err dilated(Step, Cache...);

}  // namespace qkv
