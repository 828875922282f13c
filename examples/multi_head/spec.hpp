// SPDX-License-Identifier: BSL-1.0
#pragma once
// Multi-head self-attention with its four projections, causal: d_model 512, 8 heads of 64.
#include <qkv/dsl.hpp>

namespace my {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 8> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_model", 512> d_model;
inline constexpr axis<"d_k", 64> d_k;
inline constexpr axis<"d_v", 64> d_v;

inline constexpr auto mha =
    kernel<"mha">([](in<"X", batch, seq, d_model> X, param<"Wq", d_model, heads, d_k> Wq,
                     param<"Wk", d_model, heads, d_k> Wk, param<"Wv", d_model, heads, d_v> Wv,
                     param<"Wo", heads, d_v, d_model> Wo,
                     param<"bo", d_model> bo) -> out<"Y", batch, seq, d_model> {
      auto M = rename<seq, kv>(X);  // the same tokens, now as keys
      auto Q = let<"Q">(dot<d_model>(X, Wq));
      auto K = let<"K">(dot<d_model>(M, Wk));
      auto V = let<"V">(dot<d_model>(M, Wv));
      auto scores = let<"scores">(mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) <= index(seq)));
      auto context = let<"context">(dot<kv>(softmax<kv>(scores), V));
      return dot<heads, d_v>(context, Wo) + bo;
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   auto M = X;      (the rename is forgotten)
//     dot<d_k>: both sides carry seq
//
//   auto scores = let<"scores">(dot<heads, d_k>(Q, K) / sqrt(d_k));
//     dot<heads, d_k> adds up batch axis heads of two activations
//
//   return dot<heads, d_k>(context, Wo) + bo;
//     dot<heads, d_k>: no axis d_k in context
}  // namespace my
