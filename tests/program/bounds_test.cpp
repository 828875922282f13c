// SPDX-License-Identifier: BSL-1.0
// Which whole numbers stay within i32 because positions and sizes alone decide them.
#include "codegen/program/bounds.hpp"

#include <qkv/dsl.hpp>

#include <algorithm>
#include <optional>

#include "codegen/program/from_graph.hpp"
#include "codegen/rewrites/rewrites.hpp"
#include "tests/catch.hpp"

namespace qkv::testing {
namespace {

constexpr axis<"seq"> seq;
constexpr axis<"kv"> kv;
constexpr axis<"d", 8> d;

using codegen::bounds;
using codegen::program;

template <class Kernel>
program simplified(const Kernel &k) {
  return codegen::simplified(codegen::make_program(k));
}

// Known facts about the step that is added to the input, the last one before the result.
struct known {
  std::optional<bounds> at_most;
  bool guarded, wraps;
};

template <auto Formula>
known of() {
  const auto k = kernel<"k">(
      [](in<"X", i32, seq, kv, d> X) -> out<"Y", i32, seq, kv, d> { return X + Formula(); });
  const program p = simplified(k);
  const codegen::node_id n = p[p[p.outputs[0]].in[0]].in[1];
  const codegen::whole_numbers found = codegen::bounds_of_whole_numbers(p);
  return {found.known[n], found.guarded[n], found.wraps[n]};
}

void check(const known &k, std::int64_t least, std::int64_t most, bool guarded = false) {
  REQUIRE(k.at_most);
  CHECK(k.at_most->least == least);
  CHECK(k.at_most->most == most);
  CHECK(k.guarded == guarded);
  CHECK(!k.wraps);
}

auto wrapping_steps(const program &p) {
  const auto wraps = codegen::bounds_of_whole_numbers(p).wraps;
  return std::count(wraps.begin(), wraps.end(), true);
}

constexpr std::int64_t last = core::longest_axis - 1;

}  // namespace

TEST_CASE("bounds: of positions and sizes over all calls") {
  check(of<[] { return index(seq) - index(kv); }>(), -last, last);
  check(of<[] { return abs(index(seq) - index(kv)); }>(), 0, last);
  check(of<[] { return index(d) * -3 + size(d); }>(), -13, 8);
  check(of<[] { return min(index(kv), 7) * -1; }>(), -7, 0);
  check(of<[] { return where(index(kv) < 5, index(seq), -2); }>(), -2, last);
  check(of<[] { return max(min(index(kv), 31), 4) * (index(d) - 3); }>(), -93, 124);
}

TEST_CASE("bounds: sums that some sizes carry beyond i32 are guarded") {
  check(of<[] { return index(kv) + 5000; }>(), 5000, 2147483647, true);
  check(of<[] { return (index(kv) + size(seq)) - 5; }>(), -5, 2147483642);
  check(of<[] { return -2147483648 + index(d) - index(kv); }>(), -2147483648, -2147483641, true);
}

TEST_CASE("bounds: products and constants beyond i32 wrap around") {
  const auto wraps = [](const known &k) { return k.wraps && !k.at_most; };
  CHECK(wraps(of<[] { return index(kv) * 100000; }>()));
  CHECK(wraps(of<[] { return size(seq) * size(seq); }>()));
  CHECK(wraps(of<[] { return index(d) + 2147483647; }>()));
  CHECK(wraps(of<[] { return index(d) * 400000000 + 1; }>()));
}

TEST_CASE("bounds: none where an input or an unbounded function takes part") {
  CHECK(of<[] { return cast<i32>(exp(cast<f32>(index(kv)))) + 1; }>().wraps);
  constexpr auto of_input = kernel<"of_input">(
      [](in<"n", i32> n) -> out<"Y", i32, seq> { return index(seq) - (index(seq) + n); });
  CHECK(wrapping_steps(simplified(of_input)) == 2);
}

}  // namespace qkv::testing
