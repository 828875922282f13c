// SPDX-License-Identifier: BSL-1.0
#pragma once
// Every n-th key: dilated windows (Beltagy, Peters, Cohan 2020), strided sparse attention (Child et
// al. 2019).
#include <qkv/attention/causal.hpp>
#include <qkv/core/formula.hpp>
#include <qkv/ops/cast.hpp>

namespace qkv {

// Computes: whether the distance between key and query is a multiple of step, which is at least 1.
//           With causal and sliding_window: a dilated window. Over a cache:
//           dilated<seq, slots>(step, length).
// Shapes:   [key, query] and those of step, length and count
// Numerics: b8; exact for distances below 2^22.
// Errors:   as sliding_window.
template <an_axis auto Query, an_axis auto Key, detail::alignment Where = align::unsaid>
inline constexpr auto dilated =
    formula<"dilated(step[, length[, count]])">([](operand auto step, operand auto... cache) {
      auto far = abs(detail::distance<Query, Key, Where>(cache...));
      auto steps = cast<i32>(far / step + 0.5);  // rounded: a division may be off by an ulp
      return detail::relating<core::relation::dilated, Query, Key, Where>(far == step * steps,
                                                                          cache...);
    });
template <an_axis auto Query, an_axis auto Key, detail::alignment Where>
  requires(Where.stray)
inline constexpr auto dilated<Query, Key, Where> =
    detail::number_in_brackets<"dilated", core::axes_of<Query, Key>(), Where>;

}  // namespace qkv
