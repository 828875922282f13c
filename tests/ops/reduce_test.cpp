// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include "tests/ops/spec.hpp"

namespace qkv::testing {
namespace {

constexpr auto reduce =
    kernel<"reduce">([](X_ X) -> outs<out<"sum", row>, out<"max", row>, out<"min", row>,
                                      out<"mean", row>, out<"lse", row>> {
      return {sum<column>(X), max<column>(X), min<column>(X), mean<column>(X),
              logsumexp<column>(X)};
    });

constexpr auto reduce_masked = kernel<"reduce_masked">([
](X_ X, K_ keep) -> outs<out<"sum", row>, out<"max", row>, out<"min", row>, out<"mean", row>,
                                                       out<"lse", row>> {
  auto s = mask(X, keep);
  return {sum<column>(s), max<column>(s), min<column>(s), mean<column>(s), logsumexp<column>(s)};
});

constexpr auto over_rows = kernel<"over_rows">([
](X_ X) -> outs<out<"sum", column>, out<"max", column>> { return {sum<row>(X), max<row>(X)}; });

constexpr auto over_both = kernel<"over_both">(
    [](in<"X", row, column, four> X) -> out<"sum", column> { return sum<row, four>(X); });

constexpr auto extremes_of_whole = kernel<"extremes_of_whole">(
    [](in<"N", i32, row, column> N) -> outs<out<"max", row>, out<"min", row>> {
      return {max<column>(N), min<column>(N)};
    });

struct row_of {
  std::vector<double> seen;
  double sum() const {
    double s = 0;
    for (double x : seen) s += x;
    return s;
  }
  double mean() const { return seen.empty() ? 0 : sum() / static_cast<double>(seen.size()); }
  double max() const {
    double m = -infinity;
    for (double x : seen) m = std::max(m, x);
    return m;
  }
  double min() const {
    double m = infinity;
    for (double x : seen) m = std::min(m, x);
    return m;
  }
  double lse() const {
    double s = 0;
    for (double x : seen) s += std::exp(x);
    return std::log(s);
  }
};

row_of present(const arrays &a, std::int64_t r, bool masked) {
  row_of v;
  const array &X = a.at("X");
  for (std::int64_t c = 0; c < X.shape[1]; ++c)
    if (!masked || at(a.at("keep"), {r, c}) != 0) v.seen.push_back(at(X, {r, c}));
  return v;
}

void check(const arrays &r, const arrays &a, bool masked) {
  const position shape = {a.at("X").shape[0]};
  QKV_SAME(r.at("sum"), shape, [&](auto i) { return present(a, i[0], masked).sum(); });
  QKV_SAME(r.at("mean"), shape, [&](auto i) { return present(a, i[0], masked).mean(); });
  QKV_SAME(r.at("max"), shape, [&](auto i) { return present(a, i[0], masked).max(); });
  QKV_SAME(r.at("min"), shape, [&](auto i) { return present(a, i[0], masked).min(); });
  QKV_SAME(r.at("lse"), shape, [&](auto i) { return present(a, i[0], masked).lse(); });
}

}  // namespace

TEST_CASE("reduce: over the last axis; of nothing: 0, -inf, inf, 0, -inf") {
  for (const matrix_size n : matrix_sizes) {
    const arrays a = matrices(n);
    check(meaning(reduce, a), a, false);
  }
}

TEST_CASE("reduce: masks leave out, rows with none left included") {
  for (const matrix_size n : matrix_sizes) {
    arrays a = matrices(n);
    check(meaning(reduce_masked, a), a, true);
    for (double &k : a["keep"].data) k = 0;
    check(meaning(reduce_masked, a), a, true);
  }
}

TEST_CASE("reduce: the extremes of no whole numbers are the ends of their range") {
  const arrays r = meaning(extremes_of_whole, {{"N", {{2, 0}, {}}}});
  QKV_SAME(r.at("max"), (position{2}), [](auto) { return -0x1p31; });
  QKV_SAME(r.at("min"), (position{2}), [](auto) { return 0x1p31 - 1; });
}

TEST_CASE("reduce: over the first axis and over two at once") {
  arrays a = matrices({4, 9});
  arrays r = meaning(over_rows, a);
  QKV_SAME(r["sum"], (position{9}), [&](auto i) {
    double s = 0;
    for (std::int64_t k = 0; k < 4; ++k) s += at(a["X"], {k, i[0]});
    return s;
  });
  random_numbers random(seed_or(3));
  const array X = random_array({3, 5, 4}, random);
  QKV_SAME(meaning(over_both, {{"X", X}})["sum"], (position{5}), [&](auto i) {
    double s = 0;
    for (std::int64_t k = 0; k < 3; ++k)
      for (std::int64_t f = 0; f < 4; ++f) s += at(X, {k, i[0], f});
    return s;
  });
}

TEST_CASE("reduce: NaN shows where it is present and not where it is removed") {
  arrays a = {{"X", {{2, 2}, {1, not_a_number, 3, not_a_number}}},
              {"keep", {{2, 2}, {1, 0, 1, 1}}}};
  const arrays r = meaning(reduce_masked, a);
  for (const char *name : {"sum", "max", "min", "mean", "lse"}) {
    INFO(name);
    CHECK(same_number(r.at(name).data[0], 1));
    CHECK(std::isnan(r.at(name).data[1]));
  }
}

TEST_CASE("reduce: logsumexp of large and of infinite scores") {
  const arrays a = {{"X", {{3, 2}, {1e4, 1e4, -infinity, 5, -infinity, -infinity}}}};
  const std::vector<double> lse = meaning(reduce, a)["lse"].data;
  CHECK(same_number(lse[0], 1e4 + std::log(2.0)));
  CHECK(same_number(lse[1], 5));
  CHECK(lse[2] == -infinity);
}

}  // namespace qkv::testing
