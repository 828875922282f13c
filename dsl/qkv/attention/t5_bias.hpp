#pragma once
// A learned bias for each bucket of distances: exact ones near by, logarithmic ones far off (T5:
// Raffel et al. 2020).
#include <qkv/attention/relative_bias.hpp>
#include <qkv/ops/where.hpp>

namespace qkv {
namespace detail {

// The first half of the buckets holds a distance each; the others grow by one factor up to
// max_distance, and the last one holds what lies beyond. A distance on a border belongs to the
// upper bucket: the small addition keeps rounding of the logarithm from deciding that.
template <class Far, class Buckets>
constexpr auto t5_bucket(Far far, Buckets buckets, double max_distance) {
  auto exact = cast<i32>(buckets * 0.5);
  auto part = log(max(far, exact) / exact) / log(max_distance / exact);
  auto beyond = exact + cast<i32>(part * (buckets - exact) + 1e-3);
  return where(far < exact, far, min(beyond, buckets - 1));
}

template <relation By, an_axis auto Query, an_axis auto Key, an_axis auto Buckets, align Where,
          class Table, class Far, class... Cache>
struct t5_check {
  static constexpr text why() {
    message m;
    if (!of<Far>.number())
      return m
          .say(related_pair(By, data_of<Query>, data_of<Key>),
               ": the largest distance is a number, but ", of<Far>.label, " is given")
          .say("did you mean ",
               over_cache(By, data_of<Query>, data_of<Key>,
                          sizeof...(Cache) == 0 ? origin::length : origin::count),
               "?");
    return distance_table_check<By, Query, Key, Buckets, Where, Table, Cache...>::why();
  }
};

}  // namespace detail

// Computes: table[.., bucket of key - query], keys after the query in the second half of the
//           buckets (the encoder's). Added to scores. Over a cache:
//           t5_bias<seq, slots, buckets>(table, 128, length), as sliding_window.
// Shapes:   table[.., buckets] -> [.., key, query] and those of length and count
// Numerics: no arithmetic on the table.
// Errors:   the table lacks buckets; as relative_bias.
template <an_axis auto Query, an_axis auto Key, an_axis auto Buckets, align Where = align::unsaid,
          traced Table, operand Far = double, operand... Cache>
  requires detail::passes<
      detail::t5_check<relation::t5_bias, Query, Key, Buckets, Where, Table, Far, Cache...>>
constexpr auto t5_bias(Table table, Far max_distance = 128, Cache... cache) {
  auto after = detail::distance<Query, Key, Where>(cache...);
  auto half = cast<i32>(size(Buckets) * 0.5);
  auto bucket = detail::t5_bucket(abs(after), half, max_distance);
  return detail::relating<relation::t5_bias, Query, Key, Where>(
      take<Buckets>(table, where(after > 0, bucket + half, bucket)), cache...);
}
template <an_axis auto Query, an_axis auto Key, an_axis auto Buckets, align Where = align::unsaid,
          traced Table, operand Far = double, operand... Cache,
          class Err = detail::refusal<detail::t5_check<relation::t5_bias, Query, Key, Buckets,
                                                       Where, Table, Far, Cache...>>>
Err t5_bias(Table, Far = 128, Cache...);

// Computes: the same where queries see no keys after them (the decoder's): all buckets are for keys
//           before the query.
// Shapes:   as t5_bias.
// Numerics: as t5_bias.
// Errors:   as t5_bias.
template <an_axis auto Query, an_axis auto Key, an_axis auto Buckets, align Where = align::unsaid,
          traced Table, operand Far = double, operand... Cache>
  requires detail::passes<
      detail::t5_check<relation::t5_causal_bias, Query, Key, Buckets, Where, Table, Far, Cache...>>
constexpr auto t5_causal_bias(Table table, Far max_distance = 128, Cache... cache) {
  auto before = max(-detail::distance<Query, Key, Where>(cache...), 0);
  return detail::relating<relation::t5_causal_bias, Query, Key, Where>(
      take<Buckets>(table, detail::t5_bucket(before, size(Buckets), max_distance)), cache...);
}
template <an_axis auto Query, an_axis auto Key, an_axis auto Buckets, align Where = align::unsaid,
          traced Table, operand Far = double, operand... Cache,
          class Err = detail::refusal<detail::t5_check<relation::t5_causal_bias, Query, Key,
                                                       Buckets, Where, Table, Far, Cache...>>>
Err t5_causal_bias(Table, Far = 128, Cache...);

}  // namespace qkv
