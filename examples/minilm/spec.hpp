#pragma once
// The first attention block of the sentence encoder all-MiniLM-L6-v2: 384 features, 12 heads of 32.
#include <qkv/dsl.hpp>

namespace minilm {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 12> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_model", 384> d_model;
inline constexpr axis<"d_k", 32> d_k;

constexpr auto scores_of(auto X, auto length, auto Wq, auto bq, auto Wk, auto bk) {
  auto Q = let<"Q">(dot<d_model>(X, Wq) + bq);
  auto K = let<"K">(dot<d_model>(rename<seq, kv>(X), Wk) + bk);
  return let<"scores">(mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) < length));
}

// What the block receives: the sum of three embeddings, normalised.
inline constexpr auto embedding_norm =
    kernel<"embedding_norm">([](in<"E", batch, seq, d_model> E, param<"gamma", d_model> gamma,
                                param<"beta", d_model> beta) -> out<"X", batch, seq, d_model> {
      return layer_norm<d_model>(E, gamma, beta, 1e-12);
    });

// The order of a weight's axes is its order in memory: torch keeps [out, in], and feature c belongs to head c / 32.
inline constexpr auto attention_block = kernel<"attention_block">(
    [](in<"X", batch, seq, d_model> X, in<"length", i32, batch> length,
       param<"Wq", heads, d_k, d_model> Wq, param<"bq", heads, d_k> bq,
       param<"Wk", heads, d_k, d_model> Wk, param<"bk", heads, d_k> bk,
       param<"Wv", heads, d_k, d_model> Wv, param<"bv", heads, d_k> bv,
       param<"Wo", d_model, heads, d_k> Wo, param<"bo", d_model> bo, param<"gamma", d_model> gamma,
       param<"beta", d_model> beta) -> out<"Y", batch, seq, d_model> {
      auto scores = scores_of(X, length, Wq, bq, Wk, bk);
      auto V = let<"V">(dot<d_model>(rename<seq, kv>(X), Wv) + bv);
      auto context = let<"context">(dot<kv>(softmax<kv>(scores), V));
      auto attended = let<"attended">(dot<heads, d_k>(context, Wo) + bo);
      return layer_norm<d_model>(X + attended, gamma, beta, 1e-12);
    });

// The weights themselves, for the picture; the block above never stores them.
inline constexpr auto attention_weights =
    kernel<"attention_weights">([](in<"X", batch, seq, d_model> X, in<"length", i32, batch> length,
                                   param<"Wq", heads, d_k, d_model> Wq, param<"bq", heads, d_k> bq,
                                   param<"Wk", heads, d_k, d_model> Wk,
                                   param<"bk", heads, d_k> bk) -> out<"W", batch, heads, seq, kv> {
      return softmax<kv>(scores_of(X, length, Wq, bq, Wk, bk));
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   return let<"scores">(mask(dot<d_k>(Q, K) / sqrt(d_k), index(seq) < length));      (padding of queries, not of keys)
//     softmax<kv>: a mask does not vary along kv
//
//   auto K = let<"K">(dot<d_model>(X, Wk) + bk);      (the rename is forgotten)
//     dot<d_k>: both sides carry seq
}  // namespace minilm
