// SPDX-License-Identifier: BSL-1.0
#pragma once
// The kernels with the weights that they train.
#include "adam.hpp"
#include "text.hpp"

namespace my {

class trainer {
 public:
  // threads: at most so many for each call; 0: the runtime's number.
  explicit trainer(random_numbers &random, int threads = 0)
      : weights_(random_weights(random)), threads_(threads) {}

  const weights &current() const { return weights_; }

  // Both throw std::runtime_error with what the kernel says.
  float loss_of(const batch_of_text &batch) const { return loss_of(batch, weights_); }
  float loss_of(const batch_of_text &, const weights &) const;
  const weights &gradient_of(const batch_of_text &);

  // One step of Adam against the gradient of this batch.
  void step(const batch_of_text &batch, double rate) {
    optimizer_.update(weights_, gradient_of(batch), rate);
  }

 private:
  weights weights_, gradient_;
  adam optimizer_;
  int threads_;
};

}  // namespace my
