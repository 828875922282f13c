// SPDX-License-Identifier: BSL-1.0
#include "trainer.hpp"

#include <qkv/call.hpp>
#include <stdexcept>

namespace my {
namespace {

using ids = qkv::const_tensor_view<i32, batch, seq>;

ids tokens_of(const batch_of_text &b) { return {b.tokens.data(), {b.rows, b.width}}; }
ids next_of(const batch_of_text &b) { return {b.next.data(), {b.rows, b.width}}; }

void require(const qkv::status &s) {
  if (!s) throw std::runtime_error(s.text());
}

}  // namespace

float trainer::loss_of(const batch_of_text &b, const weights &given) const {
  const qkv::options how{.threads = threads_};
  qkv::tensor<f32> result;
  std::apply(
      [&](const auto &...w) {
        require(qkv::call<loss>(how, tokens_of(b), next_of(b), w..., result));
      },
      given.all());
  return result();
}

const weights &trainer::gradient_of(const batch_of_text &b) {
  const qkv::options how{.threads = threads_};
  qkv::tensor<f32> of_loss;  // the gradient of the loss for itself
  of_loss.fill(1);
  const auto inputs = std::as_const(weights_).all();
  const auto results = gradient_.all();
  std::apply(
      [&](const auto &...w) {
        std::apply(
            [&](auto &...dw) {
              require(
                  qkv::call<loss_gradient>(how, tokens_of(b), next_of(b), w..., of_loss, dw...));
            },
            results);
      },
      inputs);
  return gradient_;
}

}  // namespace my
