#pragma once
// The largest distance seen so far, where what is not a number is far off: std::max alone would drop it.
#include <algorithm>
#include <cmath>

namespace qkv::testing {

inline float larger_of(float worst, float difference) {
  return std::isnan(difference) ? INFINITY : std::max(worst, std::abs(difference));
}

}  // namespace qkv::testing
