#include "tuner.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace minilm {
namespace {

void require(const qkv::status &s) {
  if (!s) throw std::runtime_error(s.text());
}

std::vector<std::span<float>> numbers_to_change(layer_weights &w) {
  return std::apply(
      [](auto &...t) {
        return std::vector{std::span<float>(t.data(), static_cast<std::size_t>(t.elements()))...};
      },
      w);
}

}  // namespace

std::vector<std::span<const float>> numbers_of(const layer_weights &w) {
  return std::apply(
      [](const auto &...t) {
        return std::vector{
            std::span<const float>(t.data(), static_cast<std::size_t>(t.elements()))...};
      },
      w);
}

tuner::tuner(layer_weights weights, encoder::activations X, std::vector<std::int32_t> lengths,
             std::vector<float> targets)
    : weights_(std::move(weights)),
      X_(std::move(X)),
      lengths_(std::move(lengths)),
      targets_(std::move(targets)),
      similarity_({targets_.size()}) {}

namespace {

// The arguments of both kernels before the weights: two sentences a pair, one after the other.
auto arguments_of(const encoder::activations &X, const std::vector<std::int32_t> &lengths,
                  const std::vector<float> &targets) {
  const auto pairs = static_cast<std::int64_t>(targets.size());
  return std::tuple(
      qkv::const_tensor_view<f32, batch, sides, seq, d_model>(X.data(), {pairs, X.extent<seq>()}),
      qkv::const_tensor_view<i32, batch, sides>(lengths.data(), {pairs}),
      qkv::const_tensor_view<f32, batch>(targets.data(), {pairs}));
}

}  // namespace

float tuner::loss() {
  qkv::tensor<f32> result;
  const auto arguments = arguments_of(X_, lengths_, targets_);
  std::apply(
      [&](const auto &...w) {
        require(qkv::call<pair_loss>(std::get<0>(arguments), std::get<1>(arguments),
                                     std::get<2>(arguments), w..., result, similarity_));
      },
      weights_);
  return result();
}

const layer_weights &tuner::gradient() {
  qkv::tensor<f32> of_loss;
  of_loss.fill(1);
  qkv::tensor<f32, batch> of_similarities({targets_.size()});
  of_similarities.fill(0);
  const auto arguments = arguments_of(X_, lengths_, targets_);
  const auto call = [&](const auto &...w) {
    std::apply(
        [&](auto &...dw) {
          require(qkv::call<tuning>(std::get<0>(arguments), std::get<1>(arguments),
                                    std::get<2>(arguments), w..., of_loss, of_similarities, dw...));
        },
        gradient_);
  };
  std::apply(call, weights_);
  return gradient_;
}

void tuner::step(double rate) {
  constexpr double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  power1_ *= beta1, power2_ *= beta2;
  const auto slopes = numbers_of(gradient());
  const auto x = numbers_to_change(weights_), m = numbers_to_change(mean_),
             v = numbers_to_change(square_);
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
