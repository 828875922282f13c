// SPDX-License-Identifier: BSL-1.0
#pragma once
// Four ways to change which keys a query sees, and how strongly: each is a line between the scores
// and softmax.
#include <qkv/dsl.hpp>

namespace my {
using namespace qkv;
inline constexpr batch_axis<"heads", 4> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_k", 16> d_k;
inline constexpr axis<"d_v", 32> d_v;

using queries = in<"Q", heads, seq, d_k>;
using keys = in<"K", heads, kv, d_k>;
using values = in<"V", kv, d_v>;
using result = out<"O", heads, seq, d_v>;

// Attention with linear biases (Press et al. 2022): the farther, the less, with a slope for each
// head.
inline constexpr auto with_alibi = kernel<"with_alibi">([](queries Q, keys K, values V) -> result {
  auto scores = dot<d_k>(Q, K) / sqrt(d_k) + alibi<seq, kv>(alibi_slopes(heads));
  return dot<kv>(softmax<kv>(mask(scores, causal<seq, kv>)), V);
});

// Scores between -cap and cap (Gemma 2).
inline constexpr auto with_softcap =
    kernel<"with_softcap">([](queries Q, keys K, values V, in<"cap", heads> cap) -> result {
      auto scores = softcap(dot<d_k>(Q, K) / sqrt(d_k), cap);
      return dot<kv>(softmax<kv>(mask(scores, causal<seq, kv>)), V);
    });

// The last 4, 8, 12 and 16 keys.
inline constexpr auto with_window =
    kernel<"with_window">([](queries Q, keys K, values V) -> result {
      auto near = causal<seq, kv> and sliding_window<seq, kv>(4 * (index(heads) + 1));
      return dot<kv>(softmax<kv>(mask(dot<d_k>(Q, K) / sqrt(d_k), near)), V);
    });

// Several documents packed into one sequence: no query sees another document.
inline constexpr auto with_documents = kernel<"with_documents">(
    [](queries Q, keys K, values V, in<"document", i32, seq> id) -> result {
      auto seen = causal<seq, kv> and document<seq, kv>(id);
      return dot<kv>(softmax<kv>(mask(dot<d_k>(Q, K) / sqrt(d_k), seen)), V);
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   auto scores = dot<d_k>(Q, K) / sqrt(d_k) + alibi<seq, kv>(V);      (values, not slopes)
//     alibi: V is in the place of the slope
//
//   auto near = causal<kv, seq> and sliding_window<seq, kv>(4);
//     softmax<kv>: causal<kv, seq> takes seq as its keys
//
//   auto seen = causal<seq, kv> and document<kv, seq>(id);
//     rename<kv, seq>: no axis kv in document
}  // namespace my
