// SPDX-License-Identifier: BSL-1.0
#pragma once
// Causal attention over more tokens than one machine has: an ordinary spec.
#include <qkv/dsl.hpp>

namespace my {
using namespace qkv;
inline constexpr batch_axis<"heads", 4> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_k", 32> d_k;

inline constexpr auto attention =
    kernel<"attention">([](in<"Q", heads, seq, d_k> Q, in<"K", heads, kv, d_k> K,
                           in<"V", heads, kv, d_k> V) -> out<"O", heads, seq, d_k> {
      return dot<kv>(softmax<kv>(mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, kv>)), V);
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   return dot<kv>(softmax<seq>(mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, kv>)), V);
//     softmax<seq>: causal<seq, kv> takes kv as its keys
}  // namespace my
