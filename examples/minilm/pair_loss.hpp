// SPDX-License-Identifier: BSL-1.0
#pragma once
// The last layer, to be tuned: how alike the two sentences of a pair are, and how far that is from
// what people say.
#include "spec.hpp"

namespace minilm {
inline constexpr batch_axis<"sides", 2> sides;

inline constexpr auto pair_loss = kernel<"pair_loss">(
    [](in<"X", batch, sides, seq, d_model> X, in<"length", i32, batch, sides> length,
       in<"target", batch> target, param<"Wq", heads, d_k, d_model> Wq, param<"bq", heads, d_k> bq,
       param<"Wk", heads, d_k, d_model> Wk, param<"bk", heads, d_k> bk,
       param<"Wv", heads, d_k, d_model> Wv, param<"bv", heads, d_k> bv,
       param<"Wo", d_model, heads, d_k> Wo, param<"bo", d_model> bo,
       param<"gamma1", d_model> gamma1, param<"beta1", d_model> beta1,
       param<"W1", d_ff, d_model> W1, param<"b1", d_ff> b1, param<"W2", d_model, d_ff> W2,
       param<"b2", d_model> b2, param<"gamma2", d_model> gamma2,
       param<"beta2", d_model> beta2) -> outs<out<"loss">, out<"similarity", batch>> {
      auto Y = layer_of(X, length, Wq, bq, Wk, bk, Wv, bv, Wo, bo, gamma1, beta1, W1, b1, W2, b2,
                        gamma2, beta2);
      auto sentences = let<"sentences">(sentence_of(Y, length));
      auto similarity =
          let<"cosine">(dot<d_model>(take<sides>(sentences, 0), take<sides>(sentences, 1)));
      auto error = similarity - target;
      return {mean<batch>(error * error), similarity};
    });

// The gradient of the loss for the sixteen weights of the layer.
inline constexpr auto tuning =
    gradient<pair_loss, "Wq", "bq", "Wk", "bk", "Wv", "bv", "Wo", "bo", "gamma1", "beta1", "W1",
             "b1", "W2", "b2", "gamma2", "beta2">;

}  // namespace minilm
