#pragma once
// Masks by position: causal and sliding window. keep is true where a key may be seen.
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/index.hpp>
#include <qkv/ops/logic.hpp>

namespace qkv {

// How queries and keys of different number lie against each other: their first positions together,
// or their last (where keys are those of before and now, and nothing else: concat<kv>(past, now)). The slots of a cache
// with room left are more than that: their mask is cached_causal<seq, slots>(length).
enum class align : unsigned char { unsaid, first, last };

namespace detail {

constexpr bool related(const axis_data *a, const axis_data *b) {
  return a->size >= 0 ? a->size == b->size : b->size < 0 && same_name(root_of(a), root_of(b));
}

// The position of the query, counted in keys.
template <an_axis auto Query, an_axis auto Key, align Where>
constexpr auto query_position() {
  if constexpr (Where == align::last && !related(data_of<Query>, data_of<Key>)) {
    return index(Query) + size(Key) - size(Query);
  } else {
    return index(Query);
  }
}

template <an_axis auto Query, an_axis auto Key, align Where>
consteval marks causal_marks() {
  marks m;
  m.type = b8;
  m.query = data_of<Query>;
  m.key = data_of<Key>;
  m.unaligned = Where == align::unsaid && !related(m.query.at, m.key.at);
  return m;
}

template <an_axis auto Query, an_axis auto Key>
inline constexpr text causal_text = [] {
  text t;
  return t << "causal<" << data_of<Query>->name << ", " << data_of<Key>->name << ">";
}();

template <str Label, marks M, str L, axes S, marks Old, int N>
constexpr index_expr<Label, S, M, N> marked(const index_expr<L, S, Old, N> &x) {
  index_expr<Label, S, M, N> r{};
  for (int i = 0; i < N; ++i) r.nodes[i] = x.nodes[i];
  return r;
}

// Distances between query and key need to know how both lie against each other.
template <str Name, an_axis auto Query, an_axis auto Key, align Where>
struct distance_check {
  static constexpr text why() {
    message m;
    const sv q = data_of<Query>->name, k = data_of<Key>->name, name = Name.view();
    if (Where != align::unsaid || related(data_of<Query>, data_of<Key>)) return m;
    return m.say(name, "<", q, ", ", k, ">: the sizes of ", q, " and ", k, " are unrelated")
        .say("say ", name, "<", q, ", ", k, ", align::first> or align::last");
  }
};

// How far the key lies after the query.
template <an_axis auto Query, an_axis auto Key, align Where>
constexpr auto distance() {
  return index(Key) - query_position<Query, Key, Where>();
}

}  // namespace detail

// Computes: whether the key is not after the query: mask(scores, causal<seq, kv>).
// Shapes:   [key, query]
// Numerics: b8.
// Errors:   none here; mask asks for the alignment when the sizes are unrelated, softmax for the
//           key as its axis.
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid>
inline constexpr auto causal = detail::marked<detail::as_str<detail::causal_text<Query, Key>>,
                                              detail::causal_marks<Query, Key, Where>()>(
    index(Key) <= detail::query_position<Query, Key, Where>());

// Computes: whether key and query are less than width positions apart. With causal: the last width
//           keys.
// Shapes:   [query, key] and those of width
// Numerics: b8.
// Errors:   sizes that are unrelated, and the alignment not said.
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid, operand Width>
  requires detail::passes<detail::distance_check<"sliding_window", Query, Key, Where>>
constexpr auto sliding_window(Width width) {
  return abs(detail::query_position<Query, Key, Where>() - index(Key)) < width;
}
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid, operand Width,
          class Err = detail::refusal<detail::distance_check<"sliding_window", Query, Key, Where>>>
Err sliding_window(Width);

}  // namespace qkv
