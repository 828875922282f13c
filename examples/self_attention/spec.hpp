// SPDX-License-Identifier: BSL-1.0
#pragma once
// Scaled dot-product attention over several heads: softmax(Q K' / sqrt(d_k)) V.
#include <qkv/dsl.hpp>

namespace my {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;     // the size is known at the call
inline constexpr batch_axis<"heads", 8> heads;  // the size is known now
inline constexpr axis<"seq"> seq;               // queries
inline constexpr alias<"kv", seq> kv;           // keys: another name for the same size
inline constexpr axis<"d_k", 64> d_k;
inline constexpr axis<"d_v", 64> d_v;

inline constexpr auto self_attention = kernel<"self_attention">(
    [](in<"Q", batch, heads, seq, d_k> Q, in<"K", batch, heads, kv, d_k> K,
       in<"V", batch, heads, kv, d_v> V) -> out<"O", batch, heads, seq, d_v> {
      auto scores = dot<d_k>(Q, K) / sqrt(d_k);
      return dot<kv>(softmax<kv>(scores), V);
    });

// The same, but no query sees a later key. Whole blocks of hidden keys are never computed.
inline constexpr auto causal_attention = kernel<"causal_attention">(
    [](in<"Q", batch, heads, seq, d_k> Q, in<"K", batch, heads, kv, d_k> K,
       in<"V", batch, heads, kv, d_v> V) -> out<"O", batch, heads, seq, d_v> {
      auto scores = mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) <= index(seq));
      return dot<kv>(softmax<kv>(scores), V);
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   auto scores = dot<d_k>(Q, Q) / sqrt(d_k);
//     dot<d_k>: both sides carry seq
//
//   return dot<kv>(softmax<seq>(scores), V);
//     dot<kv> contracts weights over seq; did you mean softmax<kv>?
//
//   auto scores = dot<d_v>(Q, K) / sqrt(d_k);
//     dot<d_v>: no axis d_v in Q
}  // namespace my
