// SPDX-License-Identifier: BSL-1.0
#pragma once
// Layers of the first Transformer (Vaswani et al. 2017), small: 64 features, 4 heads of 16,
// feed-forward 128.
#include <qkv/dsl.hpp>

namespace my {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 4> heads;
inline constexpr axis<"source"> source;
inline constexpr alias<"source_kv", source> source_kv;  // the source as keys of itself
inline constexpr axis<"target"> target;
inline constexpr alias<"target_kv", target> target_kv;
inline constexpr axis<"token", 1> token;  // the one that is decoded
inline constexpr axis<"slots"> slots;     // of the cache: as many as it can hold
inline constexpr axis<"row"> row;         // of a source or a target
inline constexpr axis<"d_model", 64> d_model;
inline constexpr axis<"d_k", 16> d_k;
inline constexpr axis<"d_v", 16> d_v;
inline constexpr axis<"d_ff", 128> d_ff;

// Post-norm: the result of a sublayer is added to its input, and the sum is normalised.
constexpr auto add_and_norm(auto X, auto result, auto gamma, auto beta) {
  return layer_norm<d_model>(X + result, gamma, beta);
}

constexpr auto feed_forward(auto X, auto W1, auto b1, auto W2, auto b2) {
  auto hidden = let<"hidden">(relu(dot<d_model>(X, W1) + b1));
  return dot<d_ff>(hidden, W2) + b2;
}

inline constexpr auto encoder_layer = kernel<"encoder_layer">(
    [](in<"X", batch, source, d_model> X, in<"source_length", i32, batch> source_length,
       param<"Wq", d_model, heads, d_k> Wq, param<"Wk", d_model, heads, d_k> Wk,
       param<"Wv", d_model, heads, d_v> Wv, param<"Wo", heads, d_v, d_model> Wo,
       param<"gamma1", d_model> gamma1, param<"beta1", d_model> beta1,
       param<"W1", d_model, d_ff> W1, param<"b1", d_ff> b1, param<"W2", d_ff, d_model> W2,
       param<"b2", d_model> b2, param<"gamma2", d_model> gamma2,
       param<"beta2", d_model> beta2) -> out<"Y", batch, source, d_model> {
      auto Q = let<"Q">(dot<d_model>(X, Wq));
      auto K = let<"K">(dot<d_model>(rename<source, source_kv>(X), Wk));
      auto V = let<"V">(dot<d_model>(rename<source, source_kv>(X), Wv));
      auto not_padding = padding<source_kv>(source_length);
      auto context = let<"context">(scaled_dot_product<d_k, source_kv>(Q, K, V, not_padding));
      auto A = let<"A">(add_and_norm(X, dot<heads, d_v>(context, Wo), gamma1, beta1));
      return add_and_norm(A, feed_forward(A, W1, b1, W2, b2), gamma2, beta2);
    });

// The rest of a decoder layer after its self-attention, whose result is S: attention to the source
// by its keys and values, and the feed-forward.
constexpr auto after_self_attention(auto S, auto source_K, auto source_V, auto source_length,
                                    auto Cq, auto Co, auto gamma2, auto beta2, auto W1, auto b1,
                                    auto W2, auto b2, auto gamma3, auto beta3) {
  auto C = let<"C">(dot<d_model>(S, Cq));
  auto source_seen = padding<source>(source_length);
  auto looked_up =
      let<"looked_up">(scaled_dot_product<d_k, source>(C, source_K, source_V, source_seen));
  auto A = let<"A">(add_and_norm(S, dot<heads, d_v>(looked_up, Co), gamma2, beta2));
  return add_and_norm(A, feed_forward(A, W1, b1, W2, b2), gamma3, beta3);
}

// Training: all of the target at once. A token sees itself and those before it.
inline constexpr auto decoder_layer = kernel<"decoder_layer">(
    [](in<"X", batch, target, d_model> X, in<"E", batch, source, d_model> E,
       in<"source_length", i32, batch> source_length, param<"Wq", d_model, heads, d_k> Wq,
       param<"Wk", d_model, heads, d_k> Wk, param<"Wv", d_model, heads, d_v> Wv,
       param<"Wo", heads, d_v, d_model> Wo, param<"gamma1", d_model> gamma1,
       param<"beta1", d_model> beta1, param<"Cq", d_model, heads, d_k> Cq,
       param<"Ck", d_model, heads, d_k> Ck, param<"Cv", d_model, heads, d_v> Cv,
       param<"Co", heads, d_v, d_model> Co, param<"gamma2", d_model> gamma2,
       param<"beta2", d_model> beta2, param<"W1", d_model, d_ff> W1, param<"b1", d_ff> b1,
       param<"W2", d_ff, d_model> W2, param<"b2", d_model> b2, param<"gamma3", d_model> gamma3,
       param<"beta3", d_model> beta3) -> out<"Y", batch, target, d_model> {
      auto Q = let<"Q">(dot<d_model>(X, Wq));
      auto K = let<"K">(dot<d_model>(rename<target, target_kv>(X), Wk));
      auto V = let<"V">(dot<d_model>(rename<target, target_kv>(X), Wv));
      auto not_later = causal<target, target_kv>;
      auto own = let<"own">(scaled_dot_product<d_k, target_kv>(Q, K, V, not_later));
      auto S = let<"S">(add_and_norm(X, dot<heads, d_v>(own, Wo), gamma1, beta1));
      auto source_K = let<"source_K">(dot<d_model>(E, Ck));
      auto source_V = let<"source_V">(dot<d_model>(E, Cv));
      return after_self_attention(S, source_K, source_V, source_length, Cq, Co, gamma2, beta2, W1,
                                  b1, W2, b2, gamma3, beta3);
    });

// Keys and values of rows: of the next token, for the cache; of the encoder's result, once for a
// source.
inline constexpr auto keys_and_values = kernel<"keys_and_values">(
    [](in<"X", batch, row, d_model> X, param<"Wk", d_model, heads, d_k> Wk,
       param<"Wv", d_model, heads, d_v> Wv)
        -> outs<out<"K", batch, heads, row, d_k>, out<"V", batch, heads, row, d_v>> {
      return {dot<d_model>(X, Wk), dot<d_model>(X, Wv)};
    });

// Decoding: the next token. No key in the cache is later, so only free slots are hidden.
inline constexpr auto decoder_step = kernel<"decoder_step">(
    [](in<"X", batch, token, d_model> X, in<"K", batch, heads, slots, d_k> K,
       in<"V", batch, heads, slots, d_v> V, in<"length", i32, batch> length,
       in<"source_K", batch, heads, source, d_k> source_K,
       in<"source_V", batch, heads, source, d_v> source_V,
       in<"source_length", i32, batch> source_length, param<"Wq", d_model, heads, d_k> Wq,
       param<"Wo", heads, d_v, d_model> Wo, param<"gamma1", d_model> gamma1,
       param<"beta1", d_model> beta1, param<"Cq", d_model, heads, d_k> Cq,
       param<"Co", heads, d_v, d_model> Co, param<"gamma2", d_model> gamma2,
       param<"beta2", d_model> beta2, param<"W1", d_model, d_ff> W1, param<"b1", d_ff> b1,
       param<"W2", d_ff, d_model> W2, param<"b2", d_model> b2, param<"gamma3", d_model> gamma3,
       param<"beta3", d_model> beta3) -> out<"Y", batch, token, d_model> {
      auto Q = let<"Q">(dot<d_model>(X, Wq));
      auto filled = padding<slots>(length);
      auto own = let<"own">(scaled_dot_product<d_k, slots>(Q, K, V, filled));
      auto S = let<"S">(add_and_norm(X, dot<heads, d_v>(own, Wo), gamma1, beta1));
      return after_self_attention(S, source_K, source_V, source_length, Cq, Co, gamma2, beta2, W1,
                                  b1, W2, b2, gamma3, beta3);
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   auto not_padding = padding<source>(source_length);      (padding of the queries)
//     softmax<source_kv>: a mask does not vary along source_kv
//
//   auto not_later = causal<target_kv, target>;      (queries and keys swapped)
//     softmax<target_kv>: causal<target_kv, target> takes target as its keys
//
//   auto source_seen = causal<target, source>;      (no token of a source is later)
//     causal<target, source>: the sizes of target and source are unrelated
//
//   auto source_K = let<"source_K">(dot<d_model>(X, Ck));      (keys of the target)
//     dot<d_k>: both sides carry target
//
//   auto filled = causal<token, slots>;      (counts queries from 0)
//     causal<token, slots>: the sizes of token and slots are unrelated
}  // namespace my
