// SPDX-License-Identifier: BSL-1.0
#pragma once
// A training run as NumPy files, for a twin in another framework (compare.py).
#include <string>
#include <vector>

#include "text.hpp"
#include "weights.hpp"

namespace my {

// Writes into a folder, which it creates. Errors: std::runtime_error if a file cannot be written.
class recorder {
 public:
  // The weights before the first step: <name>.npy for each.
  recorder(std::string folder, const weights &);

  // A batch, the rate of its step, and the loss before it.
  void add(const batch_of_text &, double rate, float loss);

  // tokens.npy and next.npy [steps, batch, seq], rates.npy and losses.npy [steps].
  void write() const;

 private:
  std::string folder_;
  std::int64_t rows_ = 0, width_ = 0;
  std::vector<std::int32_t> tokens_, next_;
  std::vector<double> rates_;
  std::vector<float> losses_;
};

}  // namespace my
