// SPDX-License-Identifier: BSL-1.0
#pragma once
// Masks by position: causal and sliding window. keep is true where a key may be seen.
#include <qkv/core/formula.hpp>
#include <qkv/core/relation.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/index.hpp>
#include <qkv/ops/logic.hpp>

namespace qkv {

// The alignment of queries and keys that differ in number: their first positions together, or their
// last (where the keys are those of before and now, and nothing else: concat<kv>(past, now)). A
// cache with room left needs more: its mask is cached_causal<seq, slots>(length), and windows and
// biases with it take that length in place of an alignment. Without cached_causal, an axis of a
// cache looks like any other.
enum class align : unsigned char { unsaid, first, last };

namespace detail {

// The entry after the axes in angle brackets: an alignment, or by mistake a number that belongs in
// the parentheses.
struct alignment {
  align at = align::unsaid;
  bool stray = false;
  char written[24] = "..";

  consteval alignment(align a) : at(a) {}
  template <std::integral Number>
  consteval alignment(const Number &n) : stray(true) {
    text_buffer<sizeof written> t;
    t << static_cast<long>(n);
    for (std::size_t i = 0; i < sizeof written; ++i) written[i] = i < t.n ? t.b[i] : '\0';
  }
  template <class Other>
  consteval alignment(const Other &) : stray(true) {}
  constexpr operator align() const { return at; }
};

// Stands for sliding_window<seq, kv, 128>: a formula that shows how it is written.
template <str Name, axes Over, alignment... Number>
inline constexpr text right_call = [] {
  text t;
  t << call_name{Name.view(), Over} << "(";
  sv between = "";
  ((t << between << sv(Number.written), between = ", "), ...);
  return t << ")";
}();
template <str Name, axes Over, alignment... Number>
inline constexpr formula_t<as_str<right_call<Name, Over, Number...>>> number_in_brackets{};

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
consteval marks related_marks(marks m, const info *length = nullptr) {
  m.sides.placed = {data_of<Query>, data_of<Key>, By, origin::last, length};
  if (Cache > 0)
    m.sides.placed.from = Cache == 1 ? origin::length : origin::count;
  else if (Where == align::first || related(data_of<Query>, data_of<Key>))
    m.sides.placed.from = origin::first;
  if (has_sides<Query, Key, Cache>(By)) {
    m.sides.query = data_of<Query>;
    m.sides.key = data_of<Key>;
    m.sides.by = By;
  }
  return m;
}

template <an_axis auto Query, an_axis auto Key, align Where>
consteval marks causal_marks() {
  marks m = related_marks<relation::causal, Query, Key, Where, 0>({.type = b8});
  m.sides.unaligned = Where == align::unsaid && !related(m.sides.query.at, m.sides.key.at);
  return m;
}

template <relation By, an_axis auto Query, an_axis auto Key>
inline constexpr text related_text = related_pair(By, data_of<Query>, data_of<Key>);

namespace rule {

// Distances between query and key need the position of one relative to the other: an alignment, or
// the length, perhaps the count, of a cache.
template <relation By, align Where, int Cache>
struct distance {
  maybe_axis query{}, key{};

  constexpr text check(const info &) const {
    message m;
    const text call = related_pair(By, query, key);
    if (Cache > 0 && Where != align::unsaid)
      m.say(call, ": takes an alignment or the length of a cache, not both")
          .say("did you mean ",
               over_cache(By, query, key, Cache == 1 ? origin::length : origin::count), "?");
    if (Cache == 0 && Where == align::unsaid && !related(query.at, key.at))
      m.say(call, ": the sizes of ", query->name, " and ", key->name, " are unrelated")
          .say("say ", name_of(By), "<", query->name, ", ", key->name,
               ", align::first> or align::last; over a cache, ",
               over_cache(By, query, key, origin::length));
    return m;
  }
};

}  // namespace rule

// These measure distances and need an alignment themselves; for the others, mask() requires it.
constexpr bool measures(relation by) {
  return by != relation::causal && by != relation::cached_causal && by != relation::prefix;
}

template <class... Cache>
inline constexpr const info *length_among = nullptr;
template <class Length, class... Count>
inline constexpr const info *length_among<Length, Count...> = &of<Length>;

// x with the marks and the name of the relation that it computes.
template <relation By, an_axis auto Query, an_axis auto Key, align Where, class X, class... Cache>
constexpr auto relating(const X &x, const Cache &...) {
  constexpr int cache = sizeof...(Cache);
  const auto related =
      marked<as_str<related_text<By, Query, Key>>,
             related_marks<By, Query, Key, Where, cache>(of<X>.m, length_among<Cache...>)>(x);
  if constexpr (measures(By))
    return expect<rule::distance<By, Where, cache>{data_of<Query>, data_of<Key>}>(related);
  else
    return related;
}

// Key and query are less than width positions apart.
template <an_axis auto Query, an_axis auto Key, align Where, class Width, class... Cache>
constexpr auto near(Width width, Cache... cache) {
  return abs(query_position<Query, Key, Where>(cache...) - index(Key)) < width;
}

// How far the key lies after the query.
template <an_axis auto Query, an_axis auto Key, align Where, class... Cache>
constexpr auto distance(Cache... cache) {
  return index(Key) - query_position<Query, Key, Where>(cache...);
}

}  // namespace detail

// Computes: whether the key is not after the query: mask(scores, causal<seq, kv>).
// Shapes:   [key, query]
// Numerics: b8.
// Errors:   none here; mask requires the alignment when the sizes are unrelated, softmax the key
//           as its axis.
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid>
inline constexpr auto causal =
    detail::marked<detail::as_str<detail::related_text<core::relation::causal, Query, Key>>,
                   detail::causal_marks<Query, Key, Where>()>(
        index(Key) <= detail::marked<"query", detail::whole_numbers>(
                          detail::query_position<Query, Key, Where>()));

// Computes: whether key and query are less than width positions apart. With causal: the last width
//           keys. Over a cache, with cached_causal and its length, or length and count:
//           sliding_window<seq, slots>(width, length).
// Shapes:   [query, key] and those of width, length and count
// Numerics: b8.
// Errors:   sizes that are unrelated, without an alignment and without the length of a cache; with
//           cached_causal without its length.
template <an_axis auto Query, an_axis auto Key, detail::alignment Where = align::unsaid>
inline constexpr auto sliding_window = formula<"sliding_window(width[, length[, count]])">(
    [](operand auto width, operand auto... cache) {
      return detail::relating<core::relation::sliding_window, Query, Key, Where>(
          detail::near<Query, Key, Where>(width, cache...), cache...);
    });
template <an_axis auto Query, an_axis auto Key, detail::alignment Where>
  requires(Where.stray)
inline constexpr auto sliding_window<Query, Key, Where> =
    detail::number_in_brackets<"sliding_window", core::axes_of<Query, Key>(), Where>;

}  // namespace qkv
