// SPDX-License-Identifier: BSL-1.0
#include "tests/ops/spec.hpp"

namespace qkv::testing {
namespace {

constexpr auto sums = kernel<"sums">(
    [](X_ X, K_ keep)
        -> outs<out<"along", row, column>, out<"down", row, column>, out<"seen", row, column>> {
      return {cumsum<column>(X), cumsum<row>(X), cumsum<column>(mask(X, keep))};
    });
constexpr auto counts = kernel<"counts">(
    [](K_ keep) -> out<"n", i32, row, column> { return cumsum<column>(cast<i32>(keep)); });

}  // namespace

TEST_CASE("cumsum: up to and with each position, along either axis; masked positions count as 0") {
  for (const matrix_size n : matrix_sizes) {
    const arrays a = matrices(n);
    const array &X = a.at("X"), &keep = a.at("keep");
    const arrays r = meaning(sums, a);
    const position shape = {n.rows, n.columns};
    QKV_SAME(r.at("along"), shape, [&](auto i) {
      double sum = 0;
      for (std::int64_t c = 0; c <= i[1]; ++c) sum += at(X, {i[0], c});
      return sum;
    });
    QKV_SAME(r.at("down"), shape, [&](auto i) {
      double sum = 0;
      for (std::int64_t c = 0; c <= i[0]; ++c) sum += at(X, {c, i[1]});
      return sum;
    });
    QKV_SAME(r.at("seen"), shape, [&](auto i) {
      double sum = 0;
      for (std::int64_t c = 0; c <= i[1]; ++c)
        if (at(keep, {i[0], c}) != 0) sum += at(X, {i[0], c});
      return sum;
    });
  }
}

TEST_CASE("cumsum: whole numbers stay whole") {
  const arrays a = matrices({4, 9});
  QKV_SAME(meaning(counts, a)["n"], (position{4, 9}), [&](auto i) {
    double n = 0;
    for (std::int64_t c = 0; c <= i[1]; ++c) n += at(a.at("keep"), {i[0], c});
    return n;
  });
}

TEST_CASE("cumsum: NaN shows from its position on, and not where it is removed") {
  arrays a = matrices({1, 7});
  a.at("X").data[3] = not_a_number;
  a.at("keep").data[3] = 0;
  const arrays r = meaning(sums, a);
  for (std::int64_t c = 0; c < 7; ++c) {
    CHECK(std::isnan(at(r.at("along"), {0, c})) == (c >= 3));
    CHECK(!std::isnan(at(r.at("seen"), {0, c})));
  }
}

}  // namespace qkv::testing
