// SPDX-License-Identifier: BSL-1.0
#include "tests/ops/spec.hpp"

namespace qkv::testing {
namespace {

constexpr auto compare_all = kernel<"compare_all">(
    [](X_ X, Y_ Y) -> outs<out<"lt", b8, row, column>, out<"le", b8, row, column>,
                           out<"gt", b8, row, column>, out<"ge", b8, row, column>,
                           out<"eq", b8, row, column>, out<"ne", b8, row, column>> {
      return {X<Y, X <= Y, X> Y, X >= Y, X == Y, X != Y};
    });

constexpr auto connect = kernel<"connect">(
    [](in<"a", b8, row> a, in<"b", b8, row> b)
        -> outs<out<"both", b8, row>, out<"either", b8, row>, out<"neither", b8, row>> {
      return {a and b, a or b, !a and !b};
    });

constexpr auto document = kernel<"document">([
](in<"a", i32, row> a, in<"b", i32, column> b) -> out<"same", b8, row, column> { return a == b; });

}  // namespace

TEST_CASE("logic: comparisons; with NaN only != holds") {
  const double nan = not_a_number;
  const arrays a = {{"X", {{1, 5}, {1, 2, 2, nan, nan}}}, {"Y", {{1, 5}, {2, 1, 2, 1, nan}}}};
  arrays r = meaning(compare_all, a);
  CHECK(r["lt"].data == std::vector<double>{1, 0, 0, 0, 0});
  CHECK(r["le"].data == std::vector<double>{1, 0, 1, 0, 0});
  CHECK(r["gt"].data == std::vector<double>{0, 1, 0, 0, 0});
  CHECK(r["ge"].data == std::vector<double>{0, 1, 1, 0, 0});
  CHECK(r["eq"].data == std::vector<double>{0, 0, 1, 0, 0});
  CHECK(r["ne"].data == std::vector<double>{1, 1, 0, 1, 1});
}

TEST_CASE("logic: and, or, not; anything but 0 is true") {
  arrays r = meaning(connect, {{"a", {{4}, {0, 0, 1, 255}}}, {"b", {{4}, {0, 1, 0, 1}}}});
  CHECK(r["both"].data == std::vector<double>{0, 0, 0, 1});
  CHECK(r["either"].data == std::vector<double>{0, 1, 1, 1});
  CHECK(r["neither"].data == std::vector<double>{1, 0, 0, 0});
}

TEST_CASE("logic: a comparison takes the axes of both sides") {
  arrays r = meaning(document, {{"a", {{2}, {0, 1}}}, {"b", {{3}, {1, 0, 1}}}});
  CHECK(r["same"].shape == position{2, 3});
  CHECK(r["same"].data == std::vector<double>{0, 1, 0, 1, 0, 1});
}

}  // namespace qkv::testing
