#pragma once
// The mask of keys in a cache that has room for more.
#include <qkv/attention/causal.hpp>

namespace qkv {

// Computes: whether the key in a slot is not after the query:
//           mask(scores, cached_causal<seq, slots>(length)). length counts the slots in use, the
//           new ones included; the queries are the last of them, so query i stands at length -
//           size(query) + i. One before the first slot sees nothing.
// Shapes:   [slots, query] and those of length, as in<"length", i32, batch>
// Numerics: b8.
// Errors:   none here. softmax, normalize and sigmoid_attention name the keys, so they refuse
//           swapped axes; other sums over masked scores cannot. Another mask or bias between these
//           axes must take the same length.
template <an_axis auto Query, an_axis auto Slots, operand Length>
constexpr auto cached_causal(Length length) {
  return detail::relating<relation::cached_causal, Query, Slots, align::unsaid>(
      index(Slots) <= detail::query_position<Query, Slots, align::unsaid>(length), length);
}

// Computes: the same where only the first count queries of an entry are real: query i stands at
//           position length - count + i, and those from count on see nothing.
// Shapes:   [slots, query] and those of length and count, as in<"count", i32, batch>
// Numerics: b8.
// Errors:   as above; another mask or bias between these axes must take the same count, too.
template <an_axis auto Query, an_axis auto Slots, operand Length, operand Count>
constexpr auto cached_causal(Length length, Count count) {
  return detail::relating<relation::cached_causal, Query, Slots, align::unsaid>(
      index(Slots) <= detail::query_position<Query, Slots, align::unsaid>(length, count) and
          index(Query) < count,
      length, count);
}

}  // namespace qkv
