// SPDX-License-Identifier: BSL-1.0
#pragma once
// How alike two sentences are.
#include <cmath>
#include <cstddef>
#include <span>

namespace minilm {

inline double cosine(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    ab += double(a[k]) * b[k];
    aa += double(a[k]) * a[k];
    bb += double(b[k]) * b[k];
  }
  return ab / std::sqrt(aa * bb);
}

// One row of a matrix.
inline std::span<const float> row(const auto &matrix, std::size_t number, std::size_t width) {
  return {matrix.data() + number * width, width};
}

}  // namespace minilm
