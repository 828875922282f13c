// SPDX-License-Identifier: BSL-1.0
// Biases of distances that do not agree with the mask, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr batch_axis<"heads", 8> heads;
constexpr axis<"buckets", 16> buckets;

// The slips of F(scores[heads, seq, kv], table[heads, buckets]).
template <auto F>
std::string of_scores() {
  return slips_in(
      kernel<"k">([](in<"Q", heads, seq, d8> Q, in<"K", heads, kv, d8> K, in<"V", heads, kv, e4> V,
                     param<"table", heads, buckets> table) -> out<"O", heads, seq, e4> {
        return dot<kv>(softmax<kv>(F(dot<d8>(Q, K) / sqrt(d8), table)), V);
      }));
}
template <auto F>
std::string of_slopes() {
  return of_scores<[](auto s, auto table) {
    return F(s * take<buckets>(table, 0), alibi_slopes(heads));
  }>();
}

}  // namespace

TEST_CASE("a distance has no sign where all keys are seen") {
  CHECK(mentions(of_slopes<[](auto s, auto m) { return s + m * (index(kv) - index(seq)); }>(),
                 "did you mean abs(index(seq) - index(kv)), or a causal mask?"));
  CHECK(mentions(of_slopes<[](auto s, auto m) { return s - m * (index(seq) - index(kv)); }>(),
                 "no mask hides later keys"));
  CHECK(of_slopes<[](auto s, auto m) { return s - m * abs(index(seq) - index(kv)); }>() == "");
  CHECK(of_slopes<[](auto s, auto m) {
          return mask(s - m * (index(seq) - index(kv)), causal<seq, kv>);
        }>() == "");
  CHECK(of_slopes<[](auto s, auto m) { return s + let<"bias">(m * (index(kv) - index(seq))); }>() ==
        "");
}

TEST_CASE("buckets of distances are those of the mask") {
  CHECK(mentions(of_scores<[](auto s, auto table) {
                   return mask(s + t5_bias<seq, kv, buckets>(table), causal<seq, kv>);
                 }>(),
                 "did you mean t5_causal_bias in place of t5_bias?"));
  CHECK(mentions(
      of_scores<[](auto s, auto table) { return s + t5_causal_bias<seq, kv, buckets>(table); }>(),
      "is 0 for every key after its query, and no mask hides those"));
  CHECK(of_scores<[](auto s, auto table) {
          return mask(s + t5_causal_bias<seq, kv, buckets>(table), causal<seq, kv>);
        }>() == "");
  // padding hides no keys after the query
  CHECK(mentions(slips_in(kernel<"k">([](in<"S", seq, kv> S, param<"table", buckets> table,
                                         in<"length", i32> length) -> out<"W", seq, kv> {
                   auto s = S + t5_causal_bias<seq, kv, buckets>(table);
                   return softmax<kv>(mask(s, padding<kv>(length)));
                 })),
                 "no mask hides those"));
  CHECK(of_scores<[](auto s, auto table) { return s + t5_bias<seq, kv, buckets>(table); }>() == "");
  CHECK(of_scores<[](auto s, auto table) {  // clipped on both sides
          auto away = max(min(index(kv) - index(seq), 7), -7);
          return s + take<buckets>(table, away + 7);
        }>() == "");
}

TEST_CASE("slopes of heads fall slowly") {
  CHECK(mentions(of_slopes<[](auto s, auto) {
                   auto m = pow(2, -8 * (index(heads) + 1));
                   return s - m * abs(index(seq) - index(kv));
                 }>(),
                 "is next to 0 for the last of heads"));
  CHECK(mentions(of_slopes<[](auto s, auto) {
                   auto m = pow(2, (index(heads) + 1) * 8.0 / size(heads));
                   return s - m * abs(index(seq) - index(kv));
                 }>(),
                 "did you mean -8, as ALiBi has it?"));
  CHECK(of_slopes<[](auto s, auto) {
          auto m = pow(2, -8.0 * (index(heads) + 1) / size(heads));
          return s - m * abs(index(seq) - index(kv));
        }>() == "");
}

}  // namespace qkv::testing::slips
