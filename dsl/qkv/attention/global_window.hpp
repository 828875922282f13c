// SPDX-License-Identifier: BSL-1.0
#pragma once
// A window, with some positions that see all others: Longformer (Beltagy, Peters, Cohan 2020).
#include <qkv/attention/causal.hpp>
#include <qkv/core/formula.hpp>

namespace qkv {

// Computes: whether key and query are less than width positions apart, or one of them is among the
//           first `globals`.
// Shapes:   [query, key] and those of width and globals
// Numerics: b8.
// Errors:   as sliding_window; query and key swapped where their sizes are unrelated.
template <an_axis auto Query, an_axis auto Key, detail::alignment Where = align::unsaid,
          detail::alignment... More>
inline constexpr auto global_window = formula<"global_window(width, globals[, length[, count]])">(
    [](operand auto width, operand auto globals, operand auto... cache) {
      auto query = detail::query_position<Query, Key, Where>(cache...);
      auto near = detail::near<Query, Key, Where>(width, cache...);
      return detail::relating<core::relation::global_window, Query, Key, Where>(
          near || index(Key) < globals || query < globals, cache...);
    });
template <an_axis auto Query, an_axis auto Key, detail::alignment Where, detail::alignment... More>
  requires(Where.stray)
inline constexpr auto global_window<Query, Key, Where, More...> =
    detail::number_in_brackets<"global_window", core::axes_of<Query, Key>(), Where, More...>;

}  // namespace qkv
