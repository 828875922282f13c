// SPDX-License-Identifier: BSL-1.0
#include "adam.hpp"

#include <cmath>

namespace my {

void adam::update(weights &w, const weights &gradient, double rate) {
  power1_ *= beta1, power2_ *= beta2;
  const auto b1 = static_cast<float>(beta1), b2 = static_cast<float>(beta2);
  // Both averages start at 0: dividing by 1 - beta^steps makes up for it.
  const auto scale = static_cast<float>(rate / (1 - power1_));
  const auto of_square = static_cast<float>(1 / (1 - power2_));
  const auto kept = static_cast<float>(1 - rate * decay), least = static_cast<float>(epsilon);
  const auto x = numbers_of(w), m = numbers_of(mean_), v = numbers_of(square_);
  const auto g = numbers_of(gradient);
  for (std::size_t t = 0; t < n_tensors; ++t) {
    for (std::size_t k = 0; k < x[t].size(); ++k) {
      const float slope = g[t][k];
      const float mean = m[t][k] = b1 * m[t][k] + (1 - b1) * slope;
      const float square = v[t][k] = b2 * v[t][k] + (1 - b2) * slope * slope;
      x[t][k] = kept * x[t][k] - scale * mean / (std::sqrt(square * of_square) + least);
    }
  }
}

}  // namespace my
