#pragma once
// Masks by position: causal and sliding window. keep is true where a key may be seen.
#include <qkv/core/relation.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/index.hpp>
#include <qkv/ops/logic.hpp>

namespace qkv {

// How queries and keys of different number lie against each other: their first positions together,
// or their last (where keys are those of before and now, and nothing else: concat<kv>(past, now)).
// The slots of a cache with room left are more than that: their mask is
// cached_causal<seq, slots>(length), and windows and biases beside it take that length in place of
// an alignment. Without cached_causal, an axis of a cache cannot be told from others.
enum class align : unsigned char { unsaid, first, last };

namespace detail {

constexpr bool related(const axis_data *a, const axis_data *b) {
  return a->size >= 0 ? a->size == b->size : b->size < 0 && same_name(root_of(a), root_of(b));
}

// The position of the query, counted in keys. Over a cache, it follows from the length, and perhaps
// the count, that cached_causal takes.
template <an_axis auto Query, an_axis auto Key, align Where>
constexpr auto query_position() {
  if constexpr (Where == align::last && !related(data_of<Query>, data_of<Key>)) {
    return index(Query) + size(Key) - size(Query);
  } else {
    return index(Query);
  }
}
template <an_axis auto Query, an_axis auto Key, align Where, class Length>
constexpr auto query_position(Length length) {
  return index(Query) + length - size(Query);
}
template <an_axis auto Query, an_axis auto Key, align Where, class Length, class Count>
constexpr auto query_position(Length length, Count count) {
  return index(Query) + length - count;
}

// True if the relation changes when query and key are swapped.
template <an_axis auto Query, an_axis auto Key, int Cache>
consteval bool has_sides(relation by) {
  switch (by) {
    case relation::sliding_window:
    case relation::dilated:
    case relation::alibi:
      return Cache > 0;
    case relation::global_window:
      return Cache > 0 || !related(data_of<Query>, data_of<Key>);
    default:
      return true;
  }
}

// The marks of an expression that computes a relation. Cache: 0, or 1 for a length, or 2 for a
// length and a count.
template <relation By, an_axis auto Query, an_axis auto Key, align Where, int Cache>
consteval marks related_marks(marks m) {
  m.placed = {data_of<Query>, data_of<Key>, By, origin::last};
  if (Cache > 0)
    m.placed.from = Cache == 1 ? origin::length : origin::count;
  else if (Where == align::first || related(data_of<Query>, data_of<Key>))
    m.placed.from = origin::first;
  if (has_sides<Query, Key, Cache>(By)) {
    m.query = data_of<Query>;
    m.key = data_of<Key>;
    m.by = By;
  }
  return m;
}

template <an_axis auto Query, an_axis auto Key, align Where>
consteval marks causal_marks() {
  marks m = related_marks<relation::causal, Query, Key, Where, 0>({.type = b8});
  m.unaligned = Where == align::unsaid && !related(m.query.at, m.key.at);
  return m;
}

template <relation By, an_axis auto Query, an_axis auto Key>
inline constexpr text related_text = related_pair(By, data_of<Query>, data_of<Key>);

template <str Label, marks M, str L, axes S, marks Old, int N>
constexpr index_expr<Label, S, M, N> marked(const index_expr<L, S, Old, N> &x) {
  index_expr<Label, S, M, N> r{};
  for (int i = 0; i < N; ++i) r.nodes[i] = x.nodes[i];
  return r;
}
template <str Label, marks M, str L, axes S, marks Old>
constexpr expr<Label, S, M> marked(const expr<L, S, Old> &x) {
  return {x.g, x.id};
}

// x with the marks and the name of the relation that it computes.
template <relation By, an_axis auto Query, an_axis auto Key, align Where, class... Cache, class X>
constexpr auto relating(const X &x, const Cache &...) {
  constexpr marks m = related_marks<By, Query, Key, Where, sizeof...(Cache)>(of<X>.m);
  return marked<as_str<related_text<By, Query, Key>>, m>(x);
}

// Distances between query and key need to know how both lie against each other. Cache: the length,
// perhaps the count, of a cache.
template <relation By, an_axis auto Query, an_axis auto Key, align Where, class... Cache>
struct distance_check {
  static constexpr text why() {
    message m;
    const text call = related_pair(By, data_of<Query>, data_of<Key>);
    if constexpr (sizeof...(Cache) > 2) {
      return m.say(call, ": takes at most a length and a count of a cache");
    } else if constexpr (sizeof...(Cache) > 0) {
      if (Where == align::unsaid) return m;
      return m.say(call, ": takes an alignment or the length of a cache, not both")
          .say("did you mean ",
               over_cache(By, data_of<Query>, data_of<Key>,
                          sizeof...(Cache) == 1 ? origin::length : origin::count),
               "?");
    } else {
      if (Where != align::unsaid || related(data_of<Query>, data_of<Key>)) return m;
      const sv name = name_of(By), q = data_of<Query>->name, k = data_of<Key>->name;
      return m.say(call, ": the sizes of ", q, " and ", k, " are unrelated")
          .say("say ", name, "<", q, ", ", k, ", align::first> or align::last; over a cache, ",
               over_cache(By, data_of<Query>, data_of<Key>, origin::length));
    }
  }
};

// How far the key lies after the query.
template <an_axis auto Query, an_axis auto Key, align Where, class... Cache>
constexpr auto distance(Cache... cache) {
  return index(Key) - query_position<Query, Key, Where>(cache...);
}

}  // namespace detail

// Computes: whether the key is not after the query: mask(scores, causal<seq, kv>).
// Shapes:   [key, query]
// Numerics: b8.
// Errors:   none here; mask asks for the alignment when the sizes are unrelated, softmax for the
//           key as its axis.
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid>
inline constexpr auto causal =
    detail::marked<detail::as_str<detail::related_text<relation::causal, Query, Key>>,
                   detail::causal_marks<Query, Key, Where>()>(
        index(Key) <= detail::query_position<Query, Key, Where>());

// Computes: whether key and query are less than width positions apart. With causal: the last width
//           keys. Over a cache, with cached_causal and its length, or length and count:
//           sliding_window<seq, slots>(width, length).
// Shapes:   [query, key] and those of width, length and count
// Numerics: b8.
// Errors:   sizes that are unrelated, and neither the alignment said nor the length of a cache;
//           beside cached_causal without its length.
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid, operand Width,
          operand... Cache>
  requires detail::passes<
      detail::distance_check<relation::sliding_window, Query, Key, Where, Cache...>>
constexpr auto sliding_window(Width width, Cache... cache) {
  return detail::relating<relation::sliding_window, Query, Key, Where>(
      abs(detail::query_position<Query, Key, Where>(cache...) - index(Key)) < width, cache...);
}
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid, operand Width,
          operand... Cache,
          class Err = detail::refusal<
              detail::distance_check<relation::sliding_window, Query, Key, Where, Cache...>>>
Err sliding_window(Width, Cache...);

}  // namespace qkv
