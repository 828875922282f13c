// SPDX-License-Identifier: BSL-1.0
#pragma once
// A language model of characters: two blocks of causal attention and feed forward, and its loss.
#include <qkv/dsl.hpp>

namespace my {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 4> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"vocabulary", 64> vocabulary;  // different characters, at most
inline constexpr axis<"positions", 128> positions;   // characters that are seen at once, at most
inline constexpr axis<"blocks", 2> blocks;
inline constexpr axis<"d_model", 64> d_model;
inline constexpr axis<"d_k", 16> d_k;
inline constexpr axis<"d_ff", 256> d_ff;

using token_ids = in<"tokens", i32, batch, seq>;
using word_table = param<"words", vocabulary, d_model>;
using place_table = param<"places", positions, d_model>;
using query_weights = param<"Wq", blocks, d_model, heads, d_k>;
using key_weights = param<"Wk", blocks, d_model, heads, d_k>;
using value_weights = param<"Wv", blocks, d_model, heads, d_k>;
using output_weights = param<"Wo", blocks, heads, d_k, d_model>;
using up_weights = param<"W1", blocks, d_model, d_ff>;
using down_weights = param<"W2", blocks, d_ff, d_model>;
using attention_gain = param<"gain1", blocks, d_model>;
using feed_gain = param<"gain2", blocks, d_model>;
using last_gain = param<"gain", d_model>;
using logit_weights = param<"W", d_model, vocabulary>;

constexpr auto attend(auto X, auto Wq, auto Wk, auto Wv, auto Wo) {
  auto M = rename<seq, kv>(X);  // the same characters, now as keys
  auto Q = let<"Q">(dot<d_model>(X, Wq));
  auto K = let<"K">(dot<d_model>(M, Wk));
  auto V = let<"V">(dot<d_model>(M, Wv));
  auto scores = let<"scores">(mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, kv>));
  auto context = let<"context">(dot<kv>(softmax<kv>(scores), V));
  return let<"attended">(dot<heads, d_k>(context, Wo));
}

constexpr auto feed(auto X, auto W1, auto W2) {
  auto hidden = let<"hidden">(gelu(dot<d_model>(X, W1)));
  return let<"fed">(dot<d_ff>(hidden, W2));
}

// Block number `b`: attention and a feed forward, each of a normalised input and added to it.
constexpr auto block(int b, auto X, auto Wq, auto Wk, auto Wv, auto Wo, auto W1, auto W2,
                     auto gain1, auto gain2) {
  const auto own = [b](auto weights) { return take<blocks>(weights, b); };
  auto N = let<"normalised">(rms_norm<d_model>(X, own(gain1)));
  auto A = let<"A">(X + attend(N, own(Wq), own(Wk), own(Wv), own(Wo)));
  return let<"block">(A + feed(rms_norm<d_model>(A, own(gain2)), own(W1), own(W2)));
}

constexpr auto logits_of(auto tokens, auto words, auto places, auto gain, auto W, auto... weights) {
  auto X = let<"X">(take<vocabulary>(words, tokens) + slice<positions, seq>(places, 0));
  auto Y = block(1, block(0, X, weights...), weights...);
  return let<"logits">(dot<d_model>(rms_norm<d_model>(Y, gain), W));
}

// For each character the logits of the next one.
inline constexpr auto model =
    kernel<"model">([](token_ids tokens, word_table words, place_table places, last_gain gain,
                       logit_weights W, query_weights Wq, key_weights Wk, value_weights Wv,
                       output_weights Wo, up_weights W1, down_weights W2, attention_gain gain1,
                       feed_gain gain2) -> out<"logits", batch, seq, vocabulary> {
      return logits_of(tokens, words, places, gain, W, Wq, Wk, Wv, Wo, W1, W2, gain1, gain2);
    });

// The mean cross-entropy of the next characters, in nats.
inline constexpr auto loss =
    kernel<"loss">([](token_ids tokens, in<"next", i32, batch, seq> next, word_table words,
                      place_table places, last_gain gain, logit_weights W, query_weights Wq,
                      key_weights Wk, value_weights Wv, output_weights Wo, up_weights W1,
                      down_weights W2, attention_gain gain1, feed_gain gain2) -> out<"loss"> {
      auto logits = logits_of(tokens, words, places, gain, W, Wq, Wk, Wv, Wo, W1, W2, gain1, gain2);
      return mean<batch, seq>(logsumexp<vocabulary>(logits) - take<vocabulary>(logits, next));
    });

// The gradient of the loss for every weight.
inline constexpr auto loss_gradient = gradient<loss>;

// Try this: each line alone is refused by the compiler, with this text.
//
//   auto M = X;      (the rename is forgotten)
//     dot<d_k>: both sides carry seq
//
//   auto scores = let<"scores">(mask(dot<d_k>(Q, K) / sqrt(d_k), causal<kv, seq>));
//     softmax<kv>: causal<kv, seq> takes seq as its keys
//
//   return mean<batch, seq>(logsumexp<seq>(logits) - take<vocabulary>(logits, next));
//     -: neither side contains the other
//
//   inline constexpr auto loss_gradient = gradient<loss, "next">;      (a character has no slope)
//     gradient<loss>: next is i32, which has no gradient
}  // namespace my
