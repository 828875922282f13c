#pragma once
// Every n-th key: dilated windows (Beltagy, Peters, Cohan 2020), strided sparse attention (Child et
// al. 2019).
#include <qkv/attention/causal.hpp>
#include <qkv/ops/cast.hpp>

namespace qkv {

// Computes: whether the distance between key and query is a multiple of step. With causal and
//           sliding_window: a dilated window.
// Shapes:   [key, query] and those of step
// Numerics: b8; exact for distances below 2^22.
// Errors:   sizes that are unrelated, and the alignment not said.
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid, operand Step>
  requires detail::passes<detail::distance_check<"dilated", Query, Key, Where>>
constexpr auto dilated(Step step) {
  auto far = abs(detail::distance<Query, Key, Where>());
  return far == step * cast<i32>(far / step + 0.5);  // rounded: a division may be off by an ulp
}
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid, operand Step,
          class Err = detail::refusal<detail::distance_check<"dilated", Query, Key, Where>>>
Err dilated(Step);

}  // namespace qkv
