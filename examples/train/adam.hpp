// SPDX-License-Identifier: BSL-1.0
#pragma once
// Adam (Kingma, Ba 2015) with decoupled weight decay (Loshchilov, Hutter 2019).
#include "weights.hpp"

namespace my {

class adam {
 public:
  // One step against the gradient.
  void update(weights &, const weights &gradient, double rate);

 private:
  static constexpr double beta1 = 0.9, beta2 = 0.99, epsilon = 1e-8, decay = 0.1;
  weights mean_, square_;
  double power1_ = 1, power2_ = 1;  // of beta1 and beta2, by the number of steps
};

}  // namespace my
