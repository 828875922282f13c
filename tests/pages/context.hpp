// SPDX-License-Identifier: BSL-1.0
#pragma once
// The axes of the pages of dsl/, and the arguments that their lines are formulas of.
#include <qkv/dsl.hpp>

namespace page {

using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 8> heads;
inline constexpr batch_axis<"kv_heads", 2> kv_heads;
inline constexpr batch_axis<"group", 4> group;
inline constexpr batch_axis<"more_heads", 16> more_heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"mem"> mem;
inline constexpr axis<"stored"> stored;
inline constexpr axis<"added"> added;
inline constexpr axis<"d_model", 512> d_model;
inline constexpr axis<"packed", 1536> packed;
inline constexpr axis<"d_k", 64> d_k;
inline constexpr axis<"d_g", 64> d_g;
inline constexpr axis<"d_v", 32> d_v;
inline constexpr axis<"two", 2> two;
inline constexpr axis<"half", 32> half;
inline constexpr axis<"hidden", 128> hidden;
inline constexpr axis<"vocab", 1000> vocab;
inline constexpr axis<"buckets", 32> buckets;
inline constexpr axis<"distances", 65> distances;

// The names that a line may use: LINE opens a function whose body the line is.
#define LINE(name)                                                                                \
  inline void name(                                                                               \
      [[maybe_unused]] in<"X", batch, seq, d_model> X,                                            \
      [[maybe_unused]] in<"ids", i32, batch, seq> ids,                                            \
      [[maybe_unused]] in<"Q", batch, heads, seq, d_k> Q,                                         \
      [[maybe_unused]] in<"K", batch, heads, kv, d_k> K,                                          \
      [[maybe_unused]] in<"V", batch, heads, kv, d_v> V,                                          \
      [[maybe_unused]] in<"few_K", batch, kv_heads, kv, d_k> few_K,                               \
      [[maybe_unused]] in<"few_V", batch, kv_heads, kv, d_v> few_V,                               \
      [[maybe_unused]] in<"past", batch, stored, d_k> past,                                       \
      [[maybe_unused]] in<"now", batch, added, d_k> now,                                          \
      [[maybe_unused]] in<"scores", batch, heads, seq, kv> scores,                                \
      [[maybe_unused]] in<"bias", seq, kv> bias, [[maybe_unused]] in<"keep", b8, batch, kv> keep, \
      [[maybe_unused]] in<"length", i32, batch> length, [[maybe_unused]] in<"seed", i32> seed,    \
      [[maybe_unused]] in<"S", batch, seq, d_k> S, [[maybe_unused]] in<"H", batch, kv, d_g> H,    \
      [[maybe_unused]] param<"W", d_model, hidden> W, [[maybe_unused]] param<"b", hidden> b,      \
      [[maybe_unused]] param<"W_packed", d_model, packed> W_packed,                               \
      [[maybe_unused]] param<"Wq", d_model, heads, d_k> Wq,                                       \
      [[maybe_unused]] param<"Wk", d_model, heads, d_k> Wk,                                       \
      [[maybe_unused]] param<"Wv", d_model, heads, d_v> Wv,                                       \
      [[maybe_unused]] param<"Wo", heads, d_v, d_model> Wo,                                       \
      [[maybe_unused]] param<"gamma", d_model> gamma,                                             \
      [[maybe_unused]] param<"beta", d_model> beta,                                               \
      [[maybe_unused]] param<"table", vocab, d_model> table,                                      \
      [[maybe_unused]] param<"entries", heads, distances> entries,                                \
      [[maybe_unused]] param<"bucketed", heads, buckets> bucketed,                                \
      [[maybe_unused]] param<"W_s", d_k, hidden> W_s,                                             \
      [[maybe_unused]] param<"U_h", d_g, hidden> U_h, [[maybe_unused]] param<"v", hidden> v,      \
      [[maybe_unused]] param<"W_g", d_k, d_g> W_g, [[maybe_unused]] param<"R", distances, d_k> R, \
      [[maybe_unused]] param<"P", heads, more_heads> P,                                           \
      [[maybe_unused]] param<"P_w", more_heads, heads> P_w,                                       \
      [[maybe_unused]] param<"sink", heads> sink)

}  // namespace page
