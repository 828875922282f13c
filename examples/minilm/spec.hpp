// SPDX-License-Identifier: BSL-1.0
#pragma once
// The sentence encoder all-MiniLM-L6-v2: six layers of 384 features, 12 heads of 32, feed forward
// 1536.
#include <qkv/dsl.hpp>

namespace minilm {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 12> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_model", 384> d_model;
inline constexpr axis<"d_k", 32> d_k;
inline constexpr axis<"d_ff", 1536> d_ff;
inline constexpr axis<"vocabulary", 30522> vocabulary;
inline constexpr axis<"positions", 512> positions;
inline constexpr double epsilon = 1e-12;

// The input of the first layer: the embeddings of word, place and kind of sentence, added and
// normalised.
inline constexpr auto embeddings = kernel<"embeddings">(
    [](in<"tokens", i32, batch, seq> tokens, param<"words", vocabulary, d_model> words,
       param<"places", positions, d_model> places, param<"kind", d_model> kind,
       param<"gamma", d_model> gamma,
       param<"beta", d_model> beta) -> out<"X", batch, seq, d_model> {
      auto word = let<"word">(take<vocabulary>(words, tokens));
      auto place = let<"place">(slice<positions, seq>(places, 0));
      return layer_norm<d_model>(word + place + kind, gamma, beta, epsilon);
    });

constexpr auto scores_of(auto X, auto length, auto Wq, auto bq, auto Wk, auto bk) {
  auto Q = let<"Q">(dot<d_model>(X, Wq) + bq);
  auto K = let<"K">(dot<d_model>(rename<seq, kv>(X), Wk) + bk);
  return let<"scores">(mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) < length));
}

constexpr auto layer_of(auto X, auto length, auto Wq, auto bq, auto Wk, auto bk, auto Wv, auto bv,
                        auto Wo, auto bo, auto gamma1, auto beta1, auto W1, auto b1, auto W2,
                        auto b2, auto gamma2, auto beta2) {
  auto scores = scores_of(X, length, Wq, bq, Wk, bk);
  auto V = let<"V">(dot<d_model>(rename<seq, kv>(X), Wv) + bv);
  auto context = let<"context">(dot<kv>(softmax<kv>(scores), V));
  auto attended = let<"attended">(dot<heads, d_k>(context, Wo) + bo);
  auto A = let<"A">(layer_norm<d_model>(X + attended, gamma1, beta1, epsilon));
  auto hidden = let<"hidden">(gelu(dot<d_model>(A, W1) + b1));
  auto fed = let<"fed">(dot<d_ff>(hidden, W2) + b2);
  return layer_norm<d_model>(A + fed, gamma2, beta2, epsilon);
}

// The order of a weight's axes is its order in memory: torch keeps [out, in], and feature c belongs
// to head c / 32.
inline constexpr auto layer = kernel<"layer">(
    [](in<"X", batch, seq, d_model> X, in<"length", i32, batch> length,
       param<"Wq", heads, d_k, d_model> Wq, param<"bq", heads, d_k> bq,
       param<"Wk", heads, d_k, d_model> Wk, param<"bk", heads, d_k> bk,
       param<"Wv", heads, d_k, d_model> Wv, param<"bv", heads, d_k> bv,
       param<"Wo", d_model, heads, d_k> Wo, param<"bo", d_model> bo,
       param<"gamma1", d_model> gamma1, param<"beta1", d_model> beta1,
       param<"W1", d_ff, d_model> W1, param<"b1", d_ff> b1, param<"W2", d_model, d_ff> W2,
       param<"b2", d_model> b2, param<"gamma2", d_model> gamma2,
       param<"beta2", d_model> beta2) -> out<"Y", batch, seq, d_model> {
      return layer_of(X, length, Wq, bq, Wk, bk, Wv, bv, Wo, bo, gamma1, beta1, W1, b1, W2, b2,
                      gamma2, beta2);
    });

// The sentence: the mean of its tokens, scaled to length 1.
constexpr auto sentence_of(auto X, auto length) {
  auto m = let<"mean">(mean<seq>(mask(X, index(seq) < length)));
  return m * rsqrt(sum<d_model>(m * m));
}

inline constexpr auto pooling =
    kernel<"pooling">([](in<"X", batch, seq, d_model> X,
                         in<"length", i32, batch> length) -> out<"sentence", batch, d_model> {
      return sentence_of(X, length);
    });

// The weights themselves, for the picture; a layer never stores them.
inline constexpr auto attention_weights =
    kernel<"attention_weights">([](in<"X", batch, seq, d_model> X, in<"length", i32, batch> length,
                                   param<"Wq", heads, d_k, d_model> Wq, param<"bq", heads, d_k> bq,
                                   param<"Wk", heads, d_k, d_model> Wk,
                                   param<"bk", heads, d_k> bk) -> out<"W", batch, heads, seq, kv> {
      return softmax<kv>(scores_of(X, length, Wq, bq, Wk, bk));
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   return let<"scores">(mask(dot<d_k>(Q, K) / sqrt(d_k), index(seq) < length));  (padding rows)
//     softmax<kv>: a mask does not vary along kv
//
//   auto K = let<"K">(dot<d_model>(X, Wk) + bk);      (the rename is forgotten)
//     dot<d_k>: both sides carry seq
//
//   auto fed = let<"fed">(dot<d_model>(hidden, W2) + b2);      (the wrong side of the feed forward)
//     dot<d_model>: no axis d_model in hidden
}  // namespace minilm
