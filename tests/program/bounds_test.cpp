// Which whole numbers stay within i32 because positions and sizes alone decide them.
#include "codegen/program/bounds.hpp"

#include <qkv/dsl.hpp>

#include <algorithm>

#include "codegen/program/from_graph.hpp"
#include "codegen/rewrites/rewrites.hpp"
#include "tests/catch.hpp"

namespace qkv::testing {
namespace {

constexpr axis<"seq"> seq;
constexpr axis<"kv"> kv;
constexpr axis<"d", 8> d;
constexpr axis<"buckets", 32> buckets;

using codegen::bounds;
using codegen::program;

template <class Kernel>
program simplified(const Kernel &k) {
  return codegen::simplified(codegen::make_program(k));
}

// Of what is added to the input, which is the last step before the result.
template <auto Formula>
std::optional<bounds> bounds_of() {
  const auto k =
      kernel<"k">([](in<"X", i32, seq, kv> X) -> out<"Y", i32, seq, kv> { return X + Formula(); });
  const program p = simplified(k);
  const codegen::node &sum = p[p[p.outputs[0]].in[0]];
  return codegen::bounds_of_positions(p)[sum.in[1]];
}

auto wrapping_steps(const program &p) {
  const std::vector<bool> wrap = codegen::steps_that_wrap(p);
  return std::count(wrap.begin(), wrap.end(), true);
}

constexpr double longest = codegen::longest_axis;

}  // namespace

TEST_CASE("bounds: of positions and sizes over all calls") {
  const auto check = [](const std::optional<bounds> &b, double least, double most) {
    REQUIRE(b);
    CHECK(b->least == least);
    CHECK(b->most == most);
  };
  check(bounds_of<[] { return index(seq) - index(kv); }>(), 1 - longest, longest - 1);
  check(bounds_of<[] { return abs(index(seq) - index(kv)); }>(), 0, longest - 1);
  check(bounds_of<[] { return index(kv) * 3; }>(), 0, 3 * (longest - 1));
  check(bounds_of<[] { return min(index(kv) * 3, 7) * -1; }>(), -7, 0);
  check(bounds_of<[] { return where(index(kv) < 5, index(seq), -2); }>(), -2, longest - 1);
  check(bounds_of<[] { return cast<i32>(size(d) * 0.3f); }>(), 2, 2);
}

TEST_CASE("bounds: a product beyond i32 counts as refused in what follows") {
  const auto b = bounds_of<[] { return index(kv) * index(kv) - 5; }>();
  REQUIRE(b);
  CHECK(b->most == 2147483647. - 5);
}

TEST_CASE("bounds: none of what an input, or a function without limits, decides") {
  CHECK(!bounds_of<[] { return cast<i32>(exp(cast<f32>(index(kv)))); }>());
  CHECK(!bounds_of<[] { return cast<i32>(1 / cast<f32>(index(kv))); }>());
  constexpr auto of_input = kernel<"of_input">(
      [](in<"n", i32> n) -> out<"Y", i32, seq> { return index(seq) - (index(seq) + n); });
  CHECK(wrapping_steps(simplified(of_input)) == 2);
}

TEST_CASE("bounds: buckets of distances do not wrap around") {
  constexpr auto far =
      kernel<"far">([](in<"T", buckets> T, in<"S", kv, seq> S) -> out<"Y", kv, seq> {
        return t5_bias<seq, kv, buckets, align::first>(T) + S;
      });
  CHECK(wrapping_steps(simplified(far)) == 0);
}

}  // namespace qkv::testing
