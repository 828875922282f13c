// SPDX-License-Identifier: BSL-1.0
#pragma once
// The mask of a prefix language model (Liu et al. 2018; Raffel et al. 2020).
#include <qkv/attention/causal.hpp>
#include <qkv/core/formula.hpp>

namespace qkv {

// Computes: whether the key is not after the query, or lies within the prefix, which all queries
//           see: mask(scores, prefix<seq, kv>(length)).
// Shapes:   [key, query] and those of length, as in<"length", i32, batch>
// Numerics: b8.
// Errors:   as causal; beside cached_causal, which hides the prefix.
template <an_axis auto Query, an_axis auto Key, detail::alignment Where = align::unsaid>
inline constexpr auto prefix = formula<"prefix(length)">([](operand auto length) {
  auto seen = causal<Query, Key, Where> || index(Key) < length;
  return detail::relating<core::relation::prefix, Query, Key, Where>(seen);
});
template <an_axis auto Query, an_axis auto Key, detail::alignment Where>
  requires(Where.stray)
inline constexpr auto prefix<Query, Key, Where> =
    detail::number_in_brackets<"prefix", core::axes_of<Query, Key>(), Where>;

}  // namespace qkv
