// SPDX-License-Identifier: BSL-1.0
// Sizes at which compiled code has nothing to do or more than it can hold.
#include <qkv/call.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compiled.hpp"
#include "tests/catch.hpp"
#include "tests/support/places.hpp"

namespace {

using namespace compiled;
using qkv::options;
using qkv::status;
using qkv::status_code;
using qkv::testing::places;

tensor<qkv::i32> one(std::int32_t number) {
  tensor<qkv::i32> t;
  t.fill(number);
  return t;
}

}  // namespace

TEST_CASE("intermediates that are too large") {
  constexpr std::int64_t n = 23171;  // n * n numbers of four bytes are just above 2^31
  tensor<seq> A({n}), S({n});
  tensor<kv> B({n});
  A.fill(1), B.fill(1), S.fill(-7);
  for (const options &how : places()) {
    const status s = qkv::call<pairs>(how, A, B, S);
    CHECK(s.code() == status_code::too_large);
    CHECK(s.text() == std::string("pairs: scores[kv, seq] needs more than 2147483647 bytes"));
    CHECK(std::all_of(S.begin(), S.end(), [](float x) { return x == -7; }));
  }
}

TEST_CASE("scans that are too large") {
  constexpr std::int64_t n =
      20000;  // one state fits into 2^31 bytes; two, before and after a step, do not
  const std::vector<float> start(n, 1);
  const const_tensor_view<kv, columns> S0(start.data(), {n, n}, {0, 1});
  tensor<seq> X({2});
  tensor<kv> S({n});
  X.fill(1);
  for (const options &how : places()) {
    S.fill(-7);
    const status s = qkv::call<halved>(how, X, S0, S);
    CHECK(s.code() == status_code::too_large);
    CHECK(s.text() == std::string("halved: scan<seq> with its states and results needs more than "
                                  "2147483647 bytes"));
    CHECK(std::all_of(S.begin(), S.end(), [](float x) { return x == -7; }));
  }
}

TEST_CASE("folds in a scan that are too large") {
  constexpr std::int64_t n = 1300;  // n * n * n terms are just above 2^31
  const std::vector<float> row(n, 1);
  const const_tensor_view<kv, columns> S0(row.data(), {n, n}, {0, 1});
  tensor<columns, inner> W({n, n});
  tensor<seq> X({1});
  tensor<kv> S({n});
  W.fill(1), X.fill(1), S.fill(-7);
  const status s = qkv::call<mixed>(X, S0, W, S);
  CHECK(s.code() == status_code::too_large);
  CHECK(s.text() ==
        std::string("mixed: a fold of scan<seq> needs more than 2147483647 iterations"));
  CHECK(std::all_of(S.begin(), S.end(), [](float x) { return x == -7; }));
}

TEST_CASE("sums of positions beyond i32") {
  tensor<kv> X({3});
  X(0) = 1, X(1) = 2, X(2) = 3;
  for (const options &how : places()) {
    for (const std::int64_t n : {3648, 3649}) {  // 3647 + 2147480000 is the largest i32
      tensor<seq> A({n}), Y({n});
      A.fill(0), Y.fill(-7);
      const status s = qkv::call<beyond>(how, X, A, Y);
      CAPTURE(n, s.text());
      if (n == 3648) {
        CHECK(s.ok());
        CHECK(std::all_of(Y.begin(), Y.end(), [](float y) { return y == 3; }));
      } else {
        CHECK(s.code() == status_code::too_large);
        CHECK(s.text() ==
              std::string("beyond: index(seq) + 2147480000 is beyond the range of i32"));
        CHECK(std::all_of(Y.begin(), Y.end(), [](float y) { return y == -7; }));
      }
    }
  }
}

TEST_CASE("products of positions wrap around") {
  tensor<kv> X({2});
  X(0) = 1, X(1) = 2;
  constexpr std::int64_t n = 50000;
  tensor<seq> A({n}), Y({n}), Z({n});
  tensor<qkv::i32, seq> zeros({n}), ends({n});
  A.fill(0), zeros.fill(0);
  const auto second_if = [](std::int64_t whole) {
    return static_cast<std::int32_t>(whole) > 0 ? 2.f : 1.f;
  };
  for (const options &how : places()) {
    Y.fill(-7), Z.fill(-7), ends.fill(-7);
    REQUIRE(qkv::call<leaps>(how, X, A, Y, Z).ok());
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t cast = std::min<std::int64_t>(i * 100000000, 2147483647);
      wrong += Y(i) != second_if(cast * 3);
      wrong += Z(i) != second_if(i * 100000);
    }
    CHECK(wrong == 0);
    // Branches that are not chosen may overflow.
    REQUIRE(qkv::call<from_end>(how, zeros, ends).ok());
    CHECK(std::all_of(ends.begin(), ends.end(), [](std::int32_t y) { return y == -1; }));
  }
}

TEST_CASE("positions from an input, at the ends of i32") {
  constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min(),
                         highest = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t n = 70;
  tensor<seq> X({n});
  for (std::int64_t k = 0; k < n; ++k) X(k) = static_cast<float>(k);
  tensor<kv> none({n}), Y({n}), V({n});
  none.fill(0), V.fill(1);
  for (const options &how : places()) {
    for (const std::int32_t first : {lowest, lowest + 1, -3, 0, 3, 69, 70, highest - 1, highest}) {
      Y.fill(-7);
      REQUIRE(qkv::call<part>(how, X, one(first), none, Y).ok());
      CAPTURE(first);
      for (std::int64_t k = 0; k < n; ++k)
        CHECK(Y(k) == static_cast<float>(std::clamp<std::int64_t>(first + k, 0, n - 1)));
    }
    // Sums of i32 wrap around, in masks too.
    for (const std::int32_t gap : {lowest, lowest + 1, -3, 0, 3, 69, highest - 2, highest}) {
      tensor<seq> Z({n});
      Z.fill(-7);
      REQUIRE(qkv::call<later>(how, X, V, one(gap), Z).ok());
      for (std::int64_t i = 0; i < n; ++i) {
        const auto from = static_cast<std::int32_t>(static_cast<std::uint32_t>(i) +
                                                    static_cast<std::uint32_t>(gap));
        CAPTURE(gap, i);
        CHECK(std::abs(Z(i) - (from < n - 1 ? 1.f : 0.f)) < 1e-6f);
      }
    }
    // No term changes sides: i - k < w is not i < w + k.
    for (const std::int32_t w : {lowest, -70, -69, 0, 1, 30, highest - 1, highest}) {
      tensor<seq> Z({n}), S({n});
      REQUIRE(qkv::call<windowed>(how, X, V, one(w), Z, S).ok());
      for (std::int64_t i = 0; i < n; ++i) {
        const auto bound = static_cast<std::int32_t>(static_cast<std::uint32_t>(i - highest) +
                                                     static_cast<std::uint32_t>(w));
        std::int64_t near = 0, late = 0;
        for (std::int64_t k = 0; k < n; ++k) near += i - k < w, late += n - k - 1 <= bound;
        CAPTURE(w, i);
        CHECK(std::abs(Z(i) - (near > 0 ? 1.f : 0.f)) < 1e-6f);
        CHECK(S(i) == static_cast<float>(late));
      }
    }
  }
}

TEST_CASE("comparisons of positions with any i32") {
  constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min(),
                         highest = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t queries = 20, keys = 37;
  tensor<qkv::i32, seq> A({queries});
  tensor<qkv::i32, kv> B({keys});
  A.fill(0), B.fill(0);
  const auto i32 = [](std::int64_t x) { return static_cast<std::int32_t>(x); };
  for (const options &how : places())
    for (const std::int32_t w : {lowest, lowest + 1, lowest + 30, -38, -1, 0, 1, 2, 36, 100,
                                 highest - 30, highest - 1, highest}) {
      std::vector<tensor<qkv::i32, seq>> counts(10, tensor<qkv::i32, seq>({queries}));
      auto &c = counts;
      const status s = qkv::call<compared>(how, A, B, one(w), c[0], c[1], c[2], c[3], c[4], c[5],
                                           c[6], c[7], c[8], c[9]);
      CAPTURE(w, s.text());
      REQUIRE(s.ok());
      for (std::int64_t q = 0; q < queries; ++q) {
        std::array<std::int32_t, 10> want{};
        for (std::int64_t k = 0; k < keys; ++k) {
          const std::array<bool, 10> seen = {q - k <= w,
                                             q - k <= i32(w - 3L),
                                             k - 2 < w,
                                             q - 9 < w && k <= q,
                                             keys - k <= i32(q + w),
                                             keys - k < i32(w + 1L),
                                             keys - k - 1 <= i32(w - q),
                                             i32(k - w) <= q,
                                             i32(k - q + w) >= 0,
                                             w < q - k};
          for (std::size_t f = 0; f < 10; ++f) want[f] += seen[f];
        }
        for (std::size_t f = 0; f < 10; ++f) {
          CAPTURE(q, f);
          CHECK(c[f](q) == want[f]);
        }
      }
    }
}

TEST_CASE("a position alone, compared with any i32") {
  constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min(),
                         highest = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t n = 70;
  tensor<kv> V({n});
  for (std::int64_t k = 0; k < n; ++k) V(k) = static_cast<float>(k + 1);
  for (const options &how : places())
    for (const std::int32_t w : {lowest, lowest + 1, -1, 0, 1, 5, 8, 9, 10, 63, 64, 69, 70, 71,
                                 highest - 4096, highest - 16, highest - 1, highest}) {
      std::vector<tensor<kv>> c(10, tensor<kv>({n}));
      const status s = qkv::call<parted>(how, V, one(w), c[0], c[1], c[2], c[3], c[4], c[5], c[6],
                                         c[7], c[8], c[9]);
      CAPTURE(w, s.text());
      REQUIRE(s.ok());
      for (std::int64_t k = 0; k < n; ++k) {
        const std::array<bool, 10> want = {k<w, k <= w, k> w,
                                           k >= w,
                                           k == w,
                                           k != w,
                                           w < k,
                                           w >= k,
                                           std::min(k, std::int64_t{9}) < w,
                                           k < 5 && k < w};
        for (std::size_t f = 0; f < 10; ++f) {
          CAPTURE(k, f);
          CHECK(c[f](k) == (want[f] ? V(k) : 0));
        }
      }
    }
}

TEST_CASE("a position alone, compared with any i32, in every kind of stage") {
  constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min(),
                         highest = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t n = 70, width = 32;
  tensor<seq, d> X({n, width});
  tensor<kv, d> V({n, width});
  tensor<d, inner> W({width, 33});
  tensor<d> S0({width});
  X.fill(1), V.fill(2), W.fill(3), S0.fill(4);
  for (const options &how : places())
    for (const std::int32_t w : {lowest, lowest + 1, -1, 0, 1, 15, 16, 31, 32, 33, 69, 70, 71,
                                 highest - 16, highest - 1, highest}) {
      tensor<seq, inner> after({n, 33});
      tensor<seq, d> before({n, width}), streamed({n, width});
      tensor<d> total({width}), state({width});
      tensor<seq, kv> weights({n, n});
      const status s = qkv::call<stages>(how, X, V, W, S0, one(w), after, before, total, streamed,
                                         state, weights);
      CAPTURE(w, s.text());
      REQUIRE(s.ok());
      const auto early = static_cast<float>(std::clamp<std::int64_t>(w, 0, n));
      const std::int64_t seen = std::clamp<std::int64_t>(w + 1L, 0, n);
      for (std::int64_t i = 0; i < n; ++i) {
        CAPTURE(i);
        CHECK(after(i, 32) == (i < w ? 96 : 0));
        CHECK(before(i, 31) == 64 * early);
        CHECK(std::abs(streamed(i, 31) - (w < n ? 2.f : 0.f)) < 1e-6f);
        for (std::int64_t k = 0; k < n; ++k)
          CHECK(std::abs(weights(i, k) - (k < seen ? 1 / static_cast<float>(seen) : 0.f)) < 1e-6f);
      }
      for (std::int64_t k = 0; k < width; ++k) {
        CAPTURE(k);
        CHECK(total(k) == 2 * early);
        CHECK(state(k) == (k < w ? 4 + static_cast<float>(n) : 4));
      }
    }
}

TEST_CASE("inputs that are too large") {
  constexpr std::int64_t n = 46341;
  const std::vector<float> row(n, 1);
  const const_tensor_view<seq, kv> A(row.data(), {n, n}, {0, 1});
  tensor<seq> S({n});
  S.fill(-7);
  const status s = qkv::call<total>(A, S);
  CHECK(s.code() == status_code::too_large);
  CHECK(s.text() ==
        std::string("total: A has more than 2147479552 elements, repeated ones included"));
  CHECK(std::all_of(S.begin(), S.end(), [](float x) { return x == -7; }));
}

TEST_CASE("params of no rows, of no columns") {
  for (const options &how : places()) {
    for (const std::int64_t rows : {0, 1, 3}) {
      for (const std::int64_t width : {0, 1, 50}) {
        tensor<seq, inner> X({3, rows});
        tensor<inner, columns> W({rows, width});
        tensor<columns> c({width});
        tensor<seq, columns> Y({3, width}), Z({3, width});
        X.fill(2), W.fill(1), c.fill(0.5f), Y.fill(-7), Z.fill(-7);
        const auto right = [&](float x) { return x == 2 * static_cast<float>(rows) + 0.5f; };
        const status s = qkv::call<low_rank>(how, X, W, c, Y);
        CAPTURE(rows, width, s.text());
        CHECK(s.ok());
        CHECK(std::all_of(Y.begin(), Y.end(), right));
        const auto prepared = qkv::prepare<low_rank>(how, W, c);
        const status t = prepared(how, X, Z);
        CAPTURE(t.text());
        CHECK(t.ok());
        CHECK(std::all_of(Z.begin(), Z.end(), right));
      }
      for (const std::int64_t others : {0, 1, 3, 50}) {
        tensor<seq, inner, columns> X({3, rows, others});
        tensor<inner, columns, compiled::d> W({rows, others});
        tensor<seq, compiled::d> Y({3});
        X.fill(2), W.fill(1), Y.fill(-7);
        const status s = qkv::call<of_two>(how, X, W, Y);
        CAPTURE(rows, others, s.text());
        CHECK(s.ok());
        CHECK(std::all_of(Y.begin(), Y.end(),
                          [&](float x) { return x == 2 * static_cast<float>(rows * others); }));
      }
      tensor<seq, inner> X({3, rows});
      tensor<inner> w({rows});
      tensor<seq> Y({3});
      X.fill(2), w.fill(1), Y.fill(-7);
      const status s = qkv::call<inner_product>(how, X, w, Y);
      CAPTURE(rows, s.text());
      CHECK(s.ok());
      CHECK(std::all_of(Y.begin(), Y.end(),
                        [&](float x) { return x == 2 * static_cast<float>(rows); }));
    }
  }
}
