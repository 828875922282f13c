// SPDX-License-Identifier: BSL-1.0
#pragma once
// Pairs of sentences with the last layer that they tune.
#include <span>
#include <vector>

#include "encoder.hpp"
#include "pair_loss.hpp"
#include "weights.hpp"

namespace minilm {

class tuner {
 public:
  // X: the input of the last layer, for the first and the second sentence of each pair in turn.
  tuner(layer_weights, encoder::activations X, std::vector<std::int32_t> lengths,
        std::vector<float> targets);

  // All throw std::runtime_error with the kernel's error.
  float loss();  // also updates similarities()
  std::span<const float> similarities() const { return {similarity_.data(), targets_.size()}; }
  const layer_weights &gradient();

  // One step of Adam (Kingma, Ba 2015) against the gradient.
  void step(double rate);

 private:
  layer_weights weights_, gradient_, mean_, square_;
  encoder::activations X_;
  std::vector<std::int32_t> lengths_;
  std::vector<float> targets_;
  qkv::tensor<f32, batch> similarity_;
  double power1_ = 1, power2_ = 1;  // of Adam's factors, by the number of steps
};

// The numbers of each weight.
std::vector<std::span<const float>> numbers_of(const layer_weights &);

}  // namespace minilm
