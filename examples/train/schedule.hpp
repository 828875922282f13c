// SPDX-License-Identifier: BSL-1.0
#pragma once
// How the model is trained: the size of a batch, and the rate of each step.
#include <algorithm>
#include <cstdint>

namespace my {

inline constexpr std::int64_t rows = 16, row_width = 128;

// Rises over the first steps, at most 100, and falls linearly to a tenth.
inline double rate_of(int step, int steps) {
  constexpr double highest = 3e-3;
  const int rise = std::min(100, steps / 3 + 1);
  const double left = 1 - static_cast<double>(step) / steps;
  return highest * std::min(1.0, (step + 1.0) / rise) * (0.1 + 0.9 * left);
}

}  // namespace my
