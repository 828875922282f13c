// SPDX-License-Identifier: BSL-1.0
#pragma once
// A learned bias for each bucket of distances: exact ones near by, logarithmic ones far off (T5:
// Raffel et al. 2020).
#include <qkv/attention/relative_bias.hpp>
#include <qkv/core/formula.hpp>
#include <qkv/ops/where.hpp>

namespace qkv {
namespace detail {

template <relation By>
inline constexpr label_text relation_name = label_text() << name_of(By);

// The first half of the buckets holds a distance each; the others grow by one factor up to
// max_distance, and the last one holds what lies beyond. A distance on a border belongs to the
// upper bucket: the small addition keeps rounding of the logarithm from deciding that.
template <class Far, class Buckets, class Largest>
constexpr auto t5_bucket(Far far, Buckets buckets, Largest max_distance) {
  auto exact = cast<i32>(buckets * 0.5);
  auto part = log(max(far, exact) / exact) / log(max_distance / exact);
  auto beyond = exact + cast<i32>(part * (buckets - exact) + 1e-3);
  return where(far < exact, far, min(beyond, buckets - 1));
}

namespace rule {

// The largest distance is a number: the length of a cache comes after it.
template <relation By, int Cache>
struct largest_distance {
  maybe_axis query{}, key{};
  constexpr text check(const info &x) const {
    message m;
    if (!x.number())
      m.say(related_pair(By, query, key), ": the largest distance is a number, but ", x.label,
            " is given")
          .say("did you mean ",
               over_cache(By, query, key, Cache == 0 ? origin::length : origin::count), "?");
    return m;
  }
};

}  // namespace rule

template <relation By, an_axis auto Query, an_axis auto Key, an_axis auto Buckets, align Where,
          class Table, class Largest, class... Cache>
constexpr auto t5_entry(Table table, Largest largest, Cache... cache) {
  constexpr rule::largest_distance<By, sizeof...(Cache)> is_number{data_of<Query>, data_of<Key>};
  auto max_distance = expect<is_number>(largest);
  auto after = distance<Query, Key, Where>(cache...);
  const auto bucket = [&] {
    if constexpr (By == relation::t5_causal_bias) {
      return t5_bucket(max(-after, 0), size(Buckets), max_distance);
    } else {
      auto half = cast<i32>(size(Buckets) * 0.5);
      auto near = t5_bucket(abs(after), half, max_distance);
      return where(after > 0, near + half, near);
    }
  };
  constexpr rule::carries<as_str<relation_name<By>>> has{axes_of<Query, Key, Buckets>(),
                                                         axes_of<Buckets>()};
  return relating<By, Query, Key, Where>(take<Buckets>(expect<has>(table), bucket()), cache...);
}
template <relation By, an_axis auto Query, an_axis auto Key, an_axis auto Buckets, align Where,
          class Table>
constexpr auto t5_entry(Table table) {
  return t5_entry<By, Query, Key, Buckets, Where>(table, checked_number<double>{128});
}

}  // namespace detail

// Computes: table[.., bucket of key - query], keys after the query in the second half of the
//           buckets (the encoder's). Added to scores. Over a cache:
//           t5_bias<seq, slots, buckets>(table, 128, length), as sliding_window.
// Shapes:   table[.., buckets] -> [.., key, query] and those of length and count
// Numerics: no arithmetic on the table.
// Errors:   the table lacks buckets; as relative_bias.
template <an_axis auto Query, an_axis auto Key, an_axis auto Buckets, align Where = align::unsaid>
inline constexpr auto t5_bias = formula<"t5_bias(table[, max_distance[, length[, count]]])">(
    [](traced auto table, operand auto... more) {
      return detail::t5_entry<core::relation::t5_bias, Query, Key, Buckets, Where>(table, more...);
    });

// Computes: the same where queries see no keys after them (the decoder's): all buckets are for keys
//           before the query.
// Shapes:   as t5_bias.
// Numerics: as t5_bias.
// Errors:   as t5_bias.
template <an_axis auto Query, an_axis auto Key, an_axis auto Buckets, align Where = align::unsaid>
inline constexpr auto t5_causal_bias =
    formula<"t5_causal_bias(table[, max_distance[, length[, count]]])">(
        [](traced auto table, operand auto... more) {
          return detail::t5_entry<core::relation::t5_causal_bias, Query, Key, Buckets, Where>(
              table, more...);
        });

}  // namespace qkv
