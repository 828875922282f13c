// SPDX-License-Identifier: BSL-1.0
#pragma once
// Axes and inputs of the tests of operations; a fixture with random arguments.
#include <qkv/dsl.hpp>

#include <limits>

#include "tests/catch.hpp"
#include "tests/support/meaning.hpp"

namespace qkv::testing {

inline constexpr batch_axis<"batch"> batch;
inline constexpr axis<"row"> row;
inline constexpr axis<"column"> column;
inline constexpr axis<"other"> other;
inline constexpr axis<"four", 4> four;
inline constexpr axis<"six", 6> six;
inline constexpr axis<"two", 2> two;
inline constexpr axis<"three", 3> three;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

using X_ = in<"X", row, column>;
using Y_ = in<"Y", row, column>;
using K_ = in<"keep", b8, row, column>;

struct matrix_size {
  std::int64_t rows, columns;
};
inline constexpr matrix_size matrix_sizes[] = {{0, 3}, {3, 0}, {1, 1}, {5, 1}, {1, 7}, {4, 9}};

// X and Y at random in [low, high], keep at random.
inline arrays matrices(matrix_size n, double low = -2, double high = 2) {
  random_numbers random(seed_or(static_cast<std::uint64_t>(n.rows * 100 + n.columns)));
  arrays a;
  a["X"] = random_array({n.rows, n.columns}, random, low, high);
  a["Y"] = random_array({n.rows, n.columns}, random, low, high);
  a["keep"] = random_array({n.rows, n.columns}, random);
  for (double &k : a["keep"].data) k = k > -0.5;
  return a;
}

// Every element of `got` against the formula; arguments that a kernel lacks are ignored.
#define QKV_SAME(got, shape, ...) CHECK(::qkv::testing::differs(got, shape, __VA_ARGS__) == "")

}  // namespace qkv::testing
