// SPDX-License-Identifier: BSL-1.0
#pragma once
// The largest distance so far. NaN counts as infinity; std::max would drop it.
#include <algorithm>
#include <cmath>

namespace qkv::testing {

inline float larger_of(float worst, float difference) {
  return std::isnan(difference) ? INFINITY : std::max(worst, std::abs(difference));
}

}  // namespace qkv::testing
