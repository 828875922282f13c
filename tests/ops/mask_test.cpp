// SPDX-License-Identifier: BSL-1.0
#include "tests/ops/spec.hpp"

namespace qkv::testing {
namespace {

constexpr auto shown =
    kernel<"shown">([](X_ X, K_ keep) -> out<"O", row, column> { return mask(X, keep) * 2; });
constexpr auto twice = kernel<"twice">(
    [](X_ X, K_ keep) -> out<"n", row> { return sum<column>(mask(mask(X * 0 + 1, keep), X > 0)); });
constexpr auto causal = kernel<"causal">([](X_ X) -> out<"n", row> {
  return sum<column>(mask(X * 0 + 1, index(column) <= index(row)));
});
constexpr auto through = kernel<"through">([
](in<"X", row, six> X, in<"keep", b8, row, six> keep) -> outs<out<"n", row, two>, out<"m", other>> {
  auto s = mask(X, keep);
  return {sum<three>(split<six, two, three>(s)), sum<six>(rename<row, other>(s))};
});

}  // namespace

TEST_CASE("mask: an output that is absent is -inf") {
  const arrays a = {{"X", {{1, 3}, {1, 2, not_a_number}}}, {"keep", {{1, 3}, {1, 0, 0}}}};
  CHECK(meaning(shown, a)["O"].data == std::vector<double>{2, -infinity, -infinity});
}

TEST_CASE("mask: a second mask removes further positions") {
  const arrays a = {{"X", {{2, 3}, {1, 1, -1, 1, 1, 1}}}, {"keep", {{2, 3}, {1, 0, 1, 1, 1, 1}}}};
  CHECK(meaning(twice, a)["n"].data == std::vector<double>{1, 3});
}

TEST_CASE("mask: made of positions") {
  for (const matrix_size n : matrix_sizes) {
    const arrays a = matrices(n);
    QKV_SAME(meaning(causal, a)["n"], (position{n.rows}),
             [&](auto i) { return static_cast<double>(std::min(n.columns, i[0] + 1)); });
  }
}

TEST_CASE("mask: stays with its positions through views") {
  const arrays a = {{"X", {{1, 6}, {1, 2, 3, 4, 5, 6}}}, {"keep", {{1, 6}, {1, 0, 1, 0, 0, 1}}}};
  arrays r = meaning(through, a);
  CHECK(r["n"].data == std::vector<double>{4, 6});
  CHECK(r["m"].data == std::vector<double>{10});
}

}  // namespace qkv::testing
