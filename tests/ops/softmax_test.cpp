// SPDX-License-Identifier: BSL-1.0
#include "tests/ops/spec.hpp"

namespace qkv::testing {
namespace {

constexpr auto soft =
    kernel<"soft">([](X_ X) -> out<"W", row, column> { return softmax<column>(X); });
constexpr auto by_column =
    kernel<"by_column">([](X_ X) -> out<"W", row, column> { return softmax<row>(X); });
constexpr auto over_both =
    kernel<"over_both">([](X_ X) -> out<"W", row, column> { return softmax<row, column>(X); });
constexpr auto soft_masked = kernel<"soft_masked">([
](X_ X, K_ keep, in<"V", column, other> V) -> outs<out<"W", row, column>, out<"O", row, other>> {
  auto w = softmax<column>(mask(X, keep));
  return {w, dot<column>(w, V)};
});

double weight(const array &X, std::int64_t r, std::int64_t c, const array *keep = nullptr) {
  const auto visible = [&](std::int64_t k) { return !keep || at(*keep, {r, k}) != 0; };
  double sum = 0;
  for (std::int64_t k = 0; k < X.shape[1]; ++k)
    if (visible(k)) sum += std::exp(at(X, {r, k}));
  return visible(c) ? std::exp(at(X, {r, c})) / sum : 0;
}

}  // namespace

TEST_CASE("softmax: exp(x) / sum exp(x)") {
  for (const matrix_size n : matrix_sizes) {
    const arrays a = matrices(n);
    QKV_SAME(meaning(soft, a)["W"], (position{n.rows, n.columns}),
             [&](auto i) { return weight(a.at("X"), i[0], i[1]); });
    QKV_SAME(meaning(soft_masked,
                     {{"X", a.at("X")}, {"keep", a.at("keep")}, {"V", {{n.columns, 0}, {}}}})["W"],
             (position{n.rows, n.columns}),
             [&](auto i) { return weight(a.at("X"), i[0], i[1], &a.at("keep")); });
  }
}

TEST_CASE("softmax: over the first axis, over both") {
  const arrays a = matrices({4, 9});
  const array &X = a.at("X");
  QKV_SAME(meaning(by_column, a)["W"], (position{4, 9}), [&](auto i) {
    double sum = 0;
    for (std::int64_t k = 0; k < 4; ++k) sum += std::exp(at(X, {k, i[1]}));
    return std::exp(at(X, i)) / sum;
  });
  double sum = 0;
  for (double x : X.data) sum += std::exp(x);
  QKV_SAME(meaning(over_both, a)["W"], (position{4, 9}),
           [&](auto i) { return std::exp(at(X, i)) / sum; });
}

TEST_CASE("softmax: huge scores, -inf, dead rows, NaN") {
  const double nan = not_a_number;
  const arrays a = {{"X",
                     {{5, 3},
                      {1e4, 1e4, -1e4, -infinity, 3, 3, -infinity, -infinity, -infinity, nan, 1, 2,
                       3e38, -3e38, 0}}}};
  const double want[] = {0.5, 0.5, 0, 0, 0.5, 0.5, 0, 0, 0, nan, nan, nan, 1, 0, 0};
  QKV_SAME(meaning(soft, a)["W"], (position{5, 3}), [&](auto i) { return want[3 * i[0] + i[1]]; });
}

TEST_CASE("softmax: what is masked has weight exactly 0 and lets no NaN through") {
  const double nan = not_a_number;
  const arrays a = {{"X", {{3, 3}, {1, nan, 1, 2, nan, 2, 1, nan, 1}}},
                    {"keep", {{3, 3}, {1, 0, 1, 0, 0, 0, 1, 0, 0}}},
                    {"V", {{3, 2}, {1, 2, nan, infinity, 3, 6}}}};
  arrays r = meaning(soft_masked, a);
  CHECK(r["W"].data == std::vector<double>{0.5, 0, 0.5, 0, 0, 0, 1, 0, 0});
  CHECK(r["O"].data == std::vector<double>{2, 4, 0, 0, 1, 2});
}

}  // namespace qkv::testing
