// SPDX-License-Identifier: BSL-1.0
#pragma once
// The arithmetic of tensor cores.
#include <cmath>

#include "tests/cuda/emulator/settings.hpp"

namespace qkv::ptx {

// A sum of exact products is rounded once per instruction: towards zero, or to nearest with
// PTX_TRUNCATE=0.
inline float rounded_sum(const settings &how, double sum) {
  const auto f = static_cast<float>(sum);
  if (!how.truncate || std::isnan(sum) || std::isinf(sum) ||
      std::fabs(static_cast<double>(f)) <= std::fabs(sum))
    return f;
  return std::nextafter(f, 0.f);
}

}  // namespace qkv::ptx
