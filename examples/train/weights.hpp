// SPDX-License-Identifier: BSL-1.0
#pragma once
// All weights of the model. Their gradients and the averages of Adam have the same form.
#include <array>
#include <qkv/tensor.hpp>
#include <span>
#include <tuple>

#include "random.hpp"
#include "spec.hpp"

namespace my {

struct weights {
  qkv::tensor<f32, vocabulary, d_model> words;
  qkv::tensor<f32, positions, d_model> places;
  qkv::tensor<f32, d_model> gain;
  qkv::tensor<f32, d_model, vocabulary> W;
  qkv::tensor<f32, blocks, d_model, heads, d_k> Wq, Wk, Wv;
  qkv::tensor<f32, blocks, heads, d_k, d_model> Wo;
  qkv::tensor<f32, blocks, d_model, d_ff> W1;
  qkv::tensor<f32, blocks, d_ff, d_model> W2;
  qkv::tensor<f32, blocks, d_model> gain1, gain2;

  // In the order of the kernels' arguments.
  auto all() { return std::tie(words, places, gain, W, Wq, Wk, Wv, Wo, W1, W2, gain1, gain2); }
  auto all() const {
    return std::tie(words, places, gain, W, Wq, Wk, Wv, Wo, W1, W2, gain1, gain2);
  }
};

inline constexpr std::size_t n_tensors = std::tuple_size_v<decltype(weights{}.all())>;
inline constexpr std::array<const char *, n_tensors> weight_names = {
    "words", "places", "gain", "W", "Wq", "Wk", "Wv", "Wo", "W1", "W2", "gain1", "gain2"};

// The numbers of each tensor: what needs no axes goes over these.
template <class Weights>
auto numbers_of(Weights &w) {
  return std::apply(
      [](auto &...t) {
        return std::array{std::span(t.data(), static_cast<std::size_t>(t.elements()))...};
      },
      w.all());
}

std::size_t count_of(const weights &);

// Gains are 1. The others are uniform with the standard deviation 0.02 for tables and
// 1 / sqrt(inputs) for products; those that are added to the stream of a block get half of it.
weights random_weights(random_numbers &);

}  // namespace my
