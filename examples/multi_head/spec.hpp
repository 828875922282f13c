// SPDX-License-Identifier: BSL-1.0
#pragma once
// Multi-head self-attention with its four projections, causal: d_model 512, 8 heads of 64. Written
// twice: with heads as an axis of the weights, and in the seven steps of a textbook.
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
inline constexpr axis<"d_attn", 512> d_attn;  // the features of all heads, one head after another

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

// The same numbers from the same memory: feature c of d_attn is feature c % 64 of head c / 64.
inline constexpr auto mha_in_seven_steps = kernel<"mha_in_seven_steps">(
    [](in<"X", batch, seq, d_model> X, param<"Wq", d_model, d_attn> Wq,
       param<"Wk", d_model, d_attn> Wk, param<"Wv", d_model, d_attn> Wv,
       param<"Wo", d_attn, d_model> Wo, param<"bo", d_model> bo) -> out<"Y", batch, seq, d_model> {
      auto M = rename<seq, kv>(X);
      // 1 project
      auto Q = let<"Q">(dot<d_model>(X, Wq));
      auto K = let<"K">(dot<d_model>(M, Wk));
      auto V = let<"V">(dot<d_model>(M, Wv));
      // 2 split into heads
      auto query_heads = let<"heads">(split<d_attn, heads, d_k>(Q));
      auto key_heads = let<"key_heads">(split<d_attn, heads, d_k>(K));
      auto value_heads = let<"value_heads">(split<d_attn, heads, d_v>(V));
      // 3 compare every query with every key
      auto scores = let<"scores">(dot<d_k>(query_heads, key_heads));
      // 4 divide, hide later keys
      auto scaled = let<"scaled">(scores / sqrt(d_k));
      auto masked = let<"masked">(mask(scaled, index(kv) <= index(seq)));
      // 5 weights
      auto weights = let<"weights">(softmax<kv>(masked));
      // 6 weighted sum of the values
      auto context = let<"context">(dot<kv>(weights, value_heads));
      // 7 concatenate, multiply
      auto concat = let<"concat">(merge<d_attn, heads, d_v>(context));
      return dot<d_attn>(concat, Wo) + bo;
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
//
//   auto value_heads = let<"value_heads">(split<d_attn, heads, d_model>(V));
//     split<d_attn>: heads * d_model is 4096 but d_attn is 512
//
//   auto weights = let<"weights">(softmax<seq>(masked));      (over the queries)
//     dot<kv> contracts weights over seq; did you mean softmax<kv>?
//
//   auto query_heads = let<"heads">(split<d_attn, d_k, heads>(Q));
//     dot<d_k>: heads was split as d_k, heads, but key_heads as heads, d_k
//
//   auto concat = let<"concat">(merge<d_attn, d_v, heads>(context));
//     merge<d_attn, d_v, heads>: context was split as heads, d_v
//
//   auto concat = let<"concat">(context);      (the concatenation is forgotten)
//     dot<d_attn>: no axis d_attn in concat
}  // namespace my
