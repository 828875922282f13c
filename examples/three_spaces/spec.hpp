// SPDX-License-Identifier: BSL-1.0
#pragma once
// Cross-attention between three spaces: queries of one width, keys of a second, values of a third,
// results of a fourth.
#include <qkv/dsl.hpp>

namespace my {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 4> heads;
inline constexpr axis<"seq"> seq;  // queries
inline constexpr axis<"mem"> mem;  // keys and values: of any other number
inline constexpr axis<"d_query", 48> d_query;
inline constexpr axis<"d_key", 40> d_key;
inline constexpr axis<"d_value", 56> d_value;
inline constexpr axis<"d_k", 16> d_k;
inline constexpr axis<"d_v", 24> d_v;
inline constexpr axis<"d_out", 80> d_out;

inline constexpr auto cross = kernel<"cross">(
    [](in<"X", batch, seq, d_query> X, in<"E", batch, mem, d_key> E, in<"F", batch, mem, d_value> F,
       param<"Wq", d_query, heads, d_k> Wq, param<"bq", heads, d_k> bq,
       param<"Wk", d_key, heads, d_k> Wk, param<"bk", heads, d_k> bk,
       param<"Wv", d_value, heads, d_v> Wv, param<"bv", heads, d_v> bv,
       param<"Wo", heads, d_v, d_out> Wo) -> out<"Y", batch, seq, d_out> {
      auto Q = let<"Q">(dot<d_query>(X, Wq) + bq);
      auto K = let<"K">(dot<d_key>(E, Wk) + bk);
      auto V = let<"V">(dot<d_value>(F, Wv) + bv);
      auto context = let<"context">(scaled_dot_product<d_k, mem>(Q, K, V));
      return dot<heads, d_v>(context, Wo);
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   auto K = let<"K">(dot<d_key>(F, Wk) + bk);      (keys of the values' space)
//     dot<d_key>: no axis d_key in F
//
//   auto Q = let<"Q">(dot<d_query>(X, Wk) + bq);      (the matrix of the keys)
//     dot<d_query>: no axis d_query in Wk
//
//   auto context = let<"context">(scaled_dot_product<d_k, seq>(Q, K, V));
//     dot<seq>: no axis seq in V
//
//   auto V = let<"V">(dot<d_value>(F, Wv) + bk);      (the bias of the keys)
//     +: bk varies along d_k, which dot(F, Wv) lacks
}  // namespace my
