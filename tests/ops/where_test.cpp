// SPDX-License-Identifier: BSL-1.0
#include "tests/ops/spec.hpp"

namespace qkv::testing {
namespace {

constexpr auto choose = kernel<"choose">(
    [](K_ keep, X_ X, Y_ Y) -> out<"O", row, column> { return where(keep, X, Y); });

constexpr auto number_or =
    kernel<"number_or">([](X_ X) -> out<"O", row, column> { return where(X > 0, X, -1.0); });

constexpr auto of_masked = kernel<"of_masked">([](K_ keep, X_ X, Y_ Y) -> out<"O", row> {
  return sum<column>(where(X > 0, mask(X, keep), Y));
});

}  // namespace

TEST_CASE("where: one or the other") {
  for (const matrix_size n : matrix_sizes) {
    arrays a = matrices(n);
    QKV_SAME(meaning(choose, a)["O"], (position{n.rows, n.columns}),
             [&](auto i) { return at(a[at(a["keep"], i) != 0 ? "X" : "Y"], i); });
    QKV_SAME(meaning(number_or, a)["O"], (position{n.rows, n.columns}),
             [&](auto i) { return at(a["X"], i) > 0 ? at(a["X"], i) : -1; });
  }
}

TEST_CASE("where: what is not chosen is not looked at") {
  const double nan = not_a_number;
  const arrays a = {
      {"keep", {{1, 2}, {1, 0}}}, {"X", {{1, 2}, {1, nan}}}, {"Y", {{1, 2}, {nan, 2}}}};
  CHECK(meaning(choose, a)["O"].data == std::vector<double>{1, 2});
}

TEST_CASE("where: absent only where the chosen side is") {
  const arrays a = {{"keep", {{1, 4}, {1, 0, 0, 1}}},
                    {"X", {{1, 4}, {1, 2, -3, -4}}},
                    {"Y", {{1, 4}, {10, 20, 30, 40}}}};
  CHECK(meaning(of_masked, a)["O"].data == std::vector<double>{1 + 30 + 40});
}

}  // namespace qkv::testing
