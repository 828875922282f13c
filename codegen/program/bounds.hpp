// SPDX-License-Identifier: BSL-1.0
#pragma once
// Bounds of steps that positions, sizes and constants alone decide: index(seq) + size(kv) - 3.
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Bounds of a step over all sizes that a call may have.
struct bounds {
  std::int64_t least, most;
};

// Properties of each step of i32. Compiled code does arithmetic with bounds as it stands; Halide
// and compilers assume that it stays within i32. All other arithmetic of i32 wraps around.
struct whole_numbers {
  // Nothing where an input is an operand, or a number of any size: a cast from float, a product
  // that may wrap around.
  std::vector<std::optional<bounds>> known;
  // True for sums of positions and sizes that leave i32 for some sizes, and not for others: calls
  // with such sizes are refused. Their bounds are clamped to i32.
  std::vector<bool> guarded;
  std::vector<bool> wraps;  // true for arithmetic of i32 without bounds
  // True for comparisons of i32 that nobody may solve for one of their terms: a - b < c is not
  // a < b + c where b + c leaves i32, as it does for an input, or a constant, close to its end.
  std::vector<bool> unsolvable;
};

whole_numbers bounds_of_whole_numbers(const program &);

}  // namespace qkv::codegen
