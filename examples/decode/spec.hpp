// SPDX-License-Identifier: BSL-1.0
#pragma once
// Text made token by token: a few new queries attend to everything in a cache, and a whole sequence
// at once for comparison.
#include <qkv/dsl.hpp>

namespace my {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 8> heads;
inline constexpr axis<"seq"> seq;      // new positions
inline constexpr axis<"slots"> slots;  // of the cache: as many as it can hold
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_k", 64> d_k;
inline constexpr axis<"d_v", 64> d_v;

// length counts the new positions too; query i is at position length - size(seq) + i.
inline constexpr auto decode =
    kernel<"decode">([](in<"Q", batch, heads, seq, d_k> Q, in<"K", batch, heads, slots, d_k> K,
                        in<"V", batch, heads, slots, d_v> V,
                        in<"length", i32, batch> length) -> out<"O", batch, heads, seq, d_v> {
      auto seen = cached_causal<seq, slots>(length);
      return dot<slots>(softmax<slots>(mask(dot<d_k>(Q, K) / sqrt(d_k), seen)), V);
    });

inline constexpr auto prefill =
    kernel<"prefill">([](in<"Q", batch, heads, seq, d_k> Q, in<"K", batch, heads, kv, d_k> K,
                         in<"V", batch, heads, kv, d_v> V) -> out<"O", batch, heads, seq, d_v> {
      return dot<kv>(softmax<kv>(mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, kv>)), V);
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   return dot<kv>(softmax<kv>(mask(dot<d_k>(Q, K) / sqrt(d_k), causal<kv, seq>)), V);
//     causal<kv, seq>
//
//   auto seen = index(slots) <= index(kv) + length - size(seq);
//     varies along kv, which
}  // namespace my
