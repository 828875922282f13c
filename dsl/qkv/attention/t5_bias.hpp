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

}  // namespace detail

// Computes: table[.., bucket of key - query], keys after the query in the second half of the
//           buckets (the encoder's). Added to scores.
// Shapes:   table[.., buckets] -> [.., key, query]
// Numerics: no arithmetic on the table.
// Errors:   the table lacks buckets; sizes that are unrelated, and the alignment not said.
template <an_axis auto Query, an_axis auto Key, an_axis auto Buckets, align Where = align::unsaid,
          traced Table>
  requires detail::passes<
      detail::distance_table_check<"t5_bias", Query, Key, Buckets, Where, Table>>
constexpr auto t5_bias(Table table, double max_distance = 128) {
  auto after = detail::distance<Query, Key, Where>();
  auto half = cast<i32>(size(Buckets) * 0.5);
  auto bucket = detail::t5_bucket(abs(after), half, max_distance);
  return take<Buckets>(table, where(after > 0, bucket + half, bucket));
}
template <an_axis auto Query, an_axis auto Key, an_axis auto Buckets, align Where = align::unsaid,
          traced Table,
          class Err = detail::refusal<
              detail::distance_table_check<"t5_bias", Query, Key, Buckets, Where, Table>>>
Err t5_bias(Table, double = 128);

// Computes: the same where queries see no keys after them (the decoder's): all buckets are for keys
//           before the query.
// Shapes:   as t5_bias.
// Numerics: as t5_bias.
// Errors:   as t5_bias.
template <an_axis auto Query, an_axis auto Key, an_axis auto Buckets, align Where = align::unsaid,
          traced Table>
  requires detail::passes<
      detail::distance_table_check<"t5_causal_bias", Query, Key, Buckets, Where, Table>>
constexpr auto t5_causal_bias(Table table, double max_distance = 128) {
  auto before = max(-detail::distance<Query, Key, Where>(), 0);
  return take<Buckets>(table, detail::t5_bucket(before, size(Buckets), max_distance));
}
template <an_axis auto Query, an_axis auto Key, an_axis auto Buckets, align Where = align::unsaid,
          traced Table,
          class Err = detail::refusal<
              detail::distance_table_check<"t5_causal_bias", Query, Key, Buckets, Where, Table>>>
Err t5_causal_bias(Table, double = 128);

}  // namespace qkv
