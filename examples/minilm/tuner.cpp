// SPDX-License-Identifier: BSL-1.0
#include "tuner.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace minilm {
namespace {

void require(const qkv::status &s) {
  if (!s) throw std::runtime_error(s.text());
}

template <class Number>
std::vector<std::span<Number>> spans_of(auto &weights) {
  return std::apply(
      [](auto &...t) {
        return std::vector{std::span<Number>(t.data(), static_cast<std::size_t>(t.elements()))...};
      },
      weights);
}

// The arguments that both kernels begin with: two sentences a pair, one after the other; weights.
auto arguments_of(const encoder::activations &X, const std::vector<std::int32_t> &lengths,
                  const std::vector<float> &targets, const layer_weights &weights) {
  const auto pairs = static_cast<std::int64_t>(targets.size());
  return std::tuple_cat(
      std::tuple(qkv::const_tensor_view<f32, batch, sides, seq, d_model>(X.data(),
                                                                         {pairs, X.extent<seq>()}),
                 qkv::const_tensor_view<i32, batch, sides>(lengths.data(), {pairs}),
                 qkv::const_tensor_view<f32, batch>(targets.data(), {pairs})),
      std::apply([](const auto &...w) { return std::tie(w...); }, weights));
}

}  // namespace

std::vector<std::span<const float>> numbers_of(const layer_weights &w) {
  return spans_of<const float>(w);
}

tuner::tuner(layer_weights weights, encoder::activations X, std::vector<std::int32_t> lengths,
             std::vector<float> targets)
    : weights_(std::move(weights)),
      X_(std::move(X)),
      lengths_(std::move(lengths)),
      targets_(std::move(targets)),
      similarity_({targets_.size()}) {}

float tuner::loss() {
  qkv::tensor<f32> result;
  std::apply(
      [&](const auto &...given) { require(qkv::call<pair_loss>(given..., result, similarity_)); },
      arguments_of(X_, lengths_, targets_, weights_));
  return result();
}

const layer_weights &tuner::gradient() {
  qkv::tensor<f32> of_loss;
  of_loss.fill(1);
  qkv::tensor<f32, batch> of_similarities({targets_.size()});
  of_similarities.fill(0);
  const auto results = std::apply([](auto &...dw) { return std::tie(dw...); }, gradient_);
  std::apply([](auto &&...all) { require(qkv::call<tuning>(all...)); },
             std::tuple_cat(arguments_of(X_, lengths_, targets_, weights_),
                            std::tie(of_loss, of_similarities), results));
  return gradient_;
}

void tuner::step(double rate) {
  constexpr double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  power1_ *= beta1, power2_ *= beta2;
  const auto slopes = numbers_of(gradient());
  const auto x = spans_of<float>(weights_), m = spans_of<float>(mean_),
             v = spans_of<float>(square_);
  const double scale = rate / (1 - power1_), of_square = 1 / (1 - power2_);
  for (std::size_t t = 0; t < slopes.size(); ++t) {
    for (std::size_t k = 0; k < slopes[t].size(); ++k) {
      const double slope = slopes[t][k];
      const double mean = beta1 * m[t][k] + (1 - beta1) * slope;
      const double square = beta2 * v[t][k] + (1 - beta2) * slope * slope;
      m[t][k] = static_cast<float>(mean), v[t][k] = static_cast<float>(square);
      x[t][k] -= static_cast<float>(scale * mean / (std::sqrt(square * of_square) + epsilon));
    }
  }
}

}  // namespace minilm
