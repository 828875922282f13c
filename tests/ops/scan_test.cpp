// SPDX-License-Identifier: BSL-1.0
// scan and zeros: states, results, masked steps, as loops.
#include "tests/ops/spec.hpp"

namespace qkv::testing {
namespace {

using S_ = in<"S", column>;

// The next state is the result; the state before each step is; the state stays; the start is
// forgotten.
constexpr auto states = kernel<"states">(
    [](X_ X, S_ S) -> outs<out<"after", row, column>, out<"before", row, column>,
                           out<"stays", row, column>, out<"last", column>, out<"twice", column>> {
      auto [after, last] = scan<row>(S, [](auto s, auto x) { return s / 2 + x; }, X);
      auto [before, same] = scan<row>(S, [](auto s, auto x) { return std::pair{s / 2 + x, s}; }, X);
      auto stays = scan<row>(S, [](auto s, auto x) { return std::pair{s, s * x}; }, X);
      auto twice = scan<row>(S, [](auto, auto x) { return 2 * x; }, X);
      return {after, before, stays.result, last, twice.last};
    });

// All rows inside a step, which sees one.
constexpr auto around = kernel<"around">([](X_ X, S_ S) -> out<"s", column> {
  return scan<row>(S, [&](auto s, auto x) { return x + sum<row>(s * X); }, X).last;
});

// Where a row is masked the state stays, and the result is absent.
constexpr auto masked =
    kernel<"masked">([](X_ X, K_ keep, S_ S) -> outs<out<"y", row, column>, out<"s", column>> {
      auto [y, s] =
          scan<row>(S, [](auto s, auto x) { return std::pair{s + x, s - x}; }, mask(X, keep));
      return {y, s};
    });

constexpr auto from_zero = kernel<"from_zero">([](X_ X) -> outs<out<"s", column>, out<"n">> {
  auto sums = scan<row>(zeros<column>(), [](auto s, auto x) { return s + x; }, X);
  auto rows = scan<row>(0, [](auto n, auto x) { return n + 1 + 0 * sum<column>(x); }, X);
  return {sums.last, rows.last};
});

arrays with_start(matrix_size n) {
  arrays a = matrices(n, -1, 1);
  random_numbers random(seed_or(7));
  a["S"] = random_array({n.columns}, random, -1, 1);
  return a;
}

}  // namespace

TEST_CASE("scan: states and results") {
  for (matrix_size n : matrix_sizes) {
    const arrays a = with_start(n);
    arrays r = meaning(states, a), sums = meaning(around, a), zero = meaning(from_zero, a);
    CHECK(zero["n"].data[0] == static_cast<double>(n.rows));
    for (std::int64_t c = 0; c < n.columns; ++c) {
      const double start = at(a.at("S"), {c});
      double s = start, all = start, forgets = start, total = 0;
      for (std::int64_t t = 0; t < n.rows; ++t) {
        const double x = at(a.at("X"), {t, c});
        CHECK(at(r["before"], {t, c}) == s);
        CHECK(at(r["stays"], {t, c}) == start * x);
        s = s / 2 + x;
        CHECK(at(r["after"], {t, c}) == s);
        double around = 0;
        for (std::int64_t k = 0; k < n.rows; ++k) around += all * at(a.at("X"), {k, c});
        all = x + around;
        forgets = 2 * x;
        total += x;
      }
      CHECK(at(r["last"], {c}) == s);
      CHECK(at(r["twice"], {c}) == forgets);
      CHECK(at(sums["s"], {c}) == Approx(all));
      CHECK(at(zero["s"], {c}) == total);
    }
  }
}

TEST_CASE("scan: what is masked leaves the state as it is") {
  for (matrix_size n : matrix_sizes) {
    const arrays a = with_start(n);
    arrays r = meaning(masked, a);
    for (std::int64_t c = 0; c < n.columns; ++c) {
      double s = at(a.at("S"), {c});
      for (std::int64_t t = 0; t < n.rows; ++t) {
        const double x = at(a.at("X"), {t, c});
        const bool seen = at(a.at("keep"), {t, c}) != 0;
        CHECK(at(r["y"], {t, c}) == (seen ? s - x : -infinity));
        if (seen) s += x;
      }
      CHECK(at(r["s"], {c}) == s);
    }
  }
}

}  // namespace qkv::testing
