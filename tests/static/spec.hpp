// SPDX-License-Identifier: BSL-1.0
#pragma once
// Axes and operands that the tests of shapes and messages share.
#include <cmath>
#include <qkv/core/says.hpp>
#include <qkv/dsl.hpp>

namespace spec {

using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 8> heads;
inline constexpr batch_axis<"kv_heads", 2> kv_heads;
inline constexpr batch_axis<"mix", 8> mix;
inline constexpr axis<"group", 4> group;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"mem"> mem;
inline constexpr axis<"d_model", 512> d_model;
inline constexpr axis<"d_k", 64> d_k;
inline constexpr axis<"d_v", 32> d_v;
inline constexpr axis<"hidden", 2048> hidden;

constexpr in<"X", batch, seq, d_model> X;
constexpr in<"Q", batch, heads, seq, d_k> Q;
constexpr in<"K", batch, heads, kv, d_k> K;
constexpr in<"V", batch, heads, kv, d_v> V;
constexpr in<"Kq", batch, heads, seq, d_k> Kq;  // along the positions of the queries
constexpr in<"Vq", batch, heads, seq, d_v> Vq;
constexpr in<"E", batch, mem, d_model> E;
constexpr in<"length", i32, batch> length;
constexpr in<"keep", b8, batch, kv> keep;
constexpr param<"Wq", d_model, heads, d_k> Wq;
constexpr param<"b", d_model> b;

// The types of steps: the expressions above have no kernel, so steps of them exist in decltype
// only.
template <class T>
constexpr T step{};
#define TYPE(...) step<decltype(__VA_ARGS__)>
constexpr auto scores = step<decltype(dot<d_k>(Q, K))>;
constexpr auto weights = step<decltype(softmax<kv>(scores))>;
constexpr auto attended = step<decltype(dot<kv>(weights, V))>;

}  // namespace spec
