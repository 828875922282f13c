// SPDX-License-Identifier: BSL-1.0
#include "tests/ops/spec.hpp"

namespace qkv::testing {
namespace {

constexpr auto share =
    kernel<"share">([](X_ X) -> out<"W", row, column> { return normalize<column>(relu(X)); });
constexpr auto share_masked = kernel<"share_masked">(
    [](X_ X, K_ keep) -> out<"W", row, column> { return normalize<column>(mask(exp(X), keep)); });

}  // namespace

TEST_CASE("normalize: w / sum of w; a row of nothing gives 0") {
  for (const matrix_size n : matrix_sizes) {
    const arrays a = matrices(n);
    const array &X = a.at("X");
    QKV_SAME(meaning(share, a)["W"], (position{n.rows, n.columns}), [&](auto i) {
      double sum = 0;
      for (std::int64_t k = 0; k < n.columns; ++k) sum += std::fmax(at(X, {i[0], k}), 0);
      return sum == 0 ? 0 : std::fmax(at(X, i), 0) / sum;
    });
  }
}

TEST_CASE("normalize: masks") {
  const matrix_size n{4, 9};
  arrays a = matrices(n);
  for (std::int64_t c = 0; c < n.columns; ++c)
    a["keep"].data[c] = 0;  // the first row has none left
  QKV_SAME(meaning(share_masked, a)["W"], (position{4, 9}), [&](auto i) {
    double sum = 0;
    for (std::int64_t k = 0; k < n.columns; ++k)
      sum += at(a["keep"], {i[0], k}) * std::exp(at(a["X"], {i[0], k}));
    return at(a["keep"], i) != 0 ? std::exp(at(a["X"], i)) / sum : 0;
  });
}

}  // namespace qkv::testing
