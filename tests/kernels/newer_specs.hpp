// SPDX-License-Identifier: BSL-1.0
#pragma once
// For CPUs beyond AVX-512: one kernel with each kind of stage; attentions of bf16, which they
// multiply, and of almost the same.
#include <qkv/dsl.hpp>

namespace newer {

using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 2> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_model", 48> d_model;
inline constexpr axis<"d_out", 40> d_out;
inline constexpr axis<"d_k", 24> d_k;
inline constexpr alias<"d_v", d_k> d_v;

inline constexpr auto causal_bf16 = kernel<"causal_bf16">(
    [](in<"Q", bf16, batch, heads, seq, d_k> Q, in<"K", bf16, batch, heads, kv, d_k> K,
       in<"V", bf16, batch, heads, kv, d_v> V) -> out<"O", bf16, batch, heads, seq, d_v> {
      auto scores = dot<d_k>(cast<f32>(Q), cast<f32>(K)) / sqrt(d_k);
      return cast<bf16>(dot<kv>(softmax<kv>(mask(scores, causal<seq, kv>)), cast<f32>(V)));
    });

inline constexpr batch_axis<"group", 3> group;
inline constexpr axis<"e", 40> e;
inline constexpr axis<"odd", 25> odd;

// A factor per head, values whose columns are padded, hidden keys of every number, an lse of f32.
inline constexpr auto grouped_bf16 = kernel<"grouped_bf16">(
    [](in<"Q", bf16, batch, heads, group, seq, d_k> Q, in<"K", bf16, batch, heads, kv, d_k> K,
       in<"V", bf16, batch, heads, kv, e> V, in<"sharpness", heads> sharpness,
       in<"len", i32, batch> len)
        -> outs<out<"O", bf16, batch, heads, group, seq, e>, out<"L", batch, heads, group, seq>> {
      auto scores = mask(dot<d_k>(Q, K) * sharpness / sqrt(d_k), index(kv) < len);
      return {cast<bf16>(dot<kv>(softmax<kv>(scores), V)), logsumexp<kv>(scores)};
    });

// Heads behind the positions, as PyTorch's sequence-first layout; a bias of 16 bits.
inline constexpr auto biased_bf16 = kernel<"biased_bf16">(
    [](in<"Q", bf16, seq, batch, heads, d_k> Q, in<"K", bf16, kv, batch, heads, d_k> K,
       in<"V", bf16, kv, batch, heads, e> V,
       in<"bias", bf16, heads, seq, kv> bias) -> out<"O", bf16, seq, batch, heads, e> {
      return dot<kv>(softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k) + bias), V);
    });

// Factors per row and per key, a window that begins between two keys, features that fill no square,
// and a mask that depends on the product.
inline constexpr axis<"d_6", 6> d_6;
inline constexpr auto factors_bf16 = kernel<"factors_bf16">(
    [](in<"Q", bf16, batch, heads, seq, d_k> Q, in<"K", bf16, batch, heads, kv, d_k> K,
       in<"V", bf16, batch, heads, kv, e> V, in<"a", batch, heads, seq> a,
       in<"b", batch, heads, kv> b) -> out<"O", bf16, batch, heads, seq, e> {
      auto scores = mask(dot<d_k>(Q * a, K * b) / sqrt(d_k), sliding_window<seq, kv>(31));
      return dot<kv>(softmax<kv>(mask(scores, causal<seq, kv>)), V);
    });
inline constexpr auto positive_bf16 = kernel<"positive_bf16">(
    [](in<"Q", bf16, batch, heads, seq, d_6> Q, in<"K", bf16, batch, heads, kv, d_6> K,
       in<"V", bf16, batch, heads, kv, e> V) -> out<"O", bf16, batch, heads, seq, e> {
      auto scores = dot<d_6>(Q, K) / sqrt(d_6);
      return dot<kv>(softmax<kv>(mask(scores, scores > -0.5f)), V);
    });

// Whole matrix tiles of features and columns, and blocks that documents hide.
inline constexpr axis<"d_64", 64> d_64;
inline constexpr axis<"wide", 128> wide;
inline constexpr auto wide_bf16 = kernel<"wide_bf16">(
    [](in<"Q", bf16, batch, heads, group, seq, d_64> Q, in<"K", bf16, batch, heads, kv, d_64> K,
       in<"V", bf16, batch, heads, kv, wide> V,
       in<"document", i32, batch, seq> document) -> out<"O", bf16, batch, heads, group, seq, wide> {
      auto scores = mask(dot<d_64>(Q, K) / sqrt(d_64),
                         document == rename<seq, kv>(document) && causal<seq, kv>);
      return dot<kv>(softmax<kv>(scores), V);
    });

// Fewer columns than a vector has, and more than are unrolled.
inline constexpr axis<"few", 8> few;
inline constexpr axis<"many", 260> many;
inline constexpr auto narrow_bf16 = kernel<"narrow_bf16">(
    [](in<"Q", bf16, batch, heads, seq, d_k> Q, in<"K", bf16, batch, heads, kv, d_k> K,
       in<"V", bf16, batch, heads, kv, few> V) -> out<"O", bf16, batch, heads, seq, few> {
      return dot<kv>(softmax<kv>(mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, kv>)), V);
    });
inline constexpr auto broad_bf16 = kernel<"broad_bf16">(
    [](in<"Q", bf16, batch, heads, seq, d_k> Q, in<"K", bf16, batch, heads, kv, d_k> K,
       in<"V", bf16, batch, heads, kv, many> V) -> out<"O", bf16, batch, heads, seq, many> {
      return dot<kv>(softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k)), V);
    });

// Features that no pairs divide, and results of f32, for which weights of bf16 are too coarse.
inline constexpr auto odd_bf16 = kernel<"odd_bf16">(
    [](in<"Q", bf16, batch, heads, seq, odd> Q, in<"K", bf16, batch, heads, kv, odd> K,
       in<"V", bf16, batch, heads, kv, e> V) -> out<"O", bf16, batch, heads, seq, e> {
      return dot<kv>(softmax<kv>(dot<odd>(Q, K) / sqrt(odd)), V);
    });
inline constexpr auto precise_bf16 = kernel<"precise_bf16">(
    [](in<"Q", bf16, batch, heads, seq, d_k> Q, in<"K", bf16, batch, heads, kv, d_k> K,
       in<"V", bf16, batch, heads, kv, e> V) -> out<"O", batch, heads, seq, e> {
      return dot<kv>(softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k)), cast<f32>(V));
    });

inline constexpr auto layer = kernel<"layer">(
    [](in<"X", batch, seq, d_model> X, param<"W", d_model, d_out> W, param<"g", d_model> g,
       param<"b", d_model> b) -> out<"Y", batch, seq, d_out> {
      return gelu(dot<d_model>(layer_norm<d_model>(X, g, b), W));
    });

inline constexpr auto decay =
    kernel<"decay">([](in<"X", batch, seq, d_model> X, in<"s0", batch, d_model> s0,
                       param<"a", d_model> a) -> out<"Y", batch, seq, d_model> {
      auto [states, last] = scan<seq>(s0, [&](auto s, auto x) { return s * sigmoid(a) + x; }, X);
      return states;
    });

}  // namespace newer
