// SPDX-License-Identifier: BSL-1.0
#pragma once
// The mask of keys in a cache that has room for more.
#include <qkv/attention/causal.hpp>
#include <qkv/core/formula.hpp>

namespace qkv {

// Computes: whether the key in a slot is not after the query: mask(scores, cached_causal<seq,
//           slots>(length)). length counts the slots in use, the new ones included; the queries are
//           the last of them, so query i is at position length - size(query) + i. A query before
//           the first slot sees nothing. With a count, only the first count queries of an entry are
//           real: query i is at position length - count + i, and those from count on see nothing.
// Shapes:   [slots, query] and those of length and count, as in<"length", i32, batch>
// Numerics: b8.
// Errors:   sizes that differ. softmax, normalize and sigmoid_attention name the keys, so they
//           refuse swapped axes; other sums over masked scores cannot. Another mask or bias between
//           these axes must take the same length, and the same count.
template <an_axis auto Query, an_axis auto Slots>
inline constexpr auto cached_causal = formula<"cached_causal(length[, count])">(
    [](operand auto length) {
      auto query = detail::query_position<Query, Slots, align::unsaid>(length);
      return detail::relating<core::relation::cached_causal, Query, Slots, align::unsaid>(
          index(Slots) <= query, length);
    },
    [](operand auto length, operand auto count) {
      auto query = detail::query_position<Query, Slots, align::unsaid>(length, count);
      return detail::relating<core::relation::cached_causal, Query, Slots, align::unsaid>(
          index(Slots) <= query and index(Query) < count, length, count);
    });

}  // namespace qkv
