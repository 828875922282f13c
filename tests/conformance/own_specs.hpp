// SPDX-License-Identifier: BSL-1.0
#pragma once
// Specs that the rules of ONNX's Attention allow and none of its cases has.
#include "onnx_past_specs.hpp"

namespace onnx {
using keep_mask = in<"mask", b8, batch, heads, seq, kv>;

// The scores before the cap, where there is one.
inline constexpr auto own_raw_capped = kernel<"own_raw_capped">(
    [](queries Q, keys K, values V, param<"cap"> cap) -> outs<result, score_result> {
      auto s = scored(Q, K);
      return {attend(capped(s, cap), V), s};
    });

// The weights under a mask of True and False: rows without a True have none.
inline constexpr auto own_keep_softmax = kernel<"own_keep_softmax">(
    [](queries Q, keys K, values V, keep_mask M) -> outs<result, score_result> {
      auto weights = softmax<kv>(mask(scored(Q, K), M));
      return {dot<kv>(weights, V), weights};
    });

// No key after the query, and none beyond the length of the sequence.
inline constexpr auto own_ragged_causal = kernel<"own_ragged_causal">(
    [](queries Q, keys K, values V, in<"nonpad", i32, batch> nonpad) -> result {
      auto s = mask(causal_mask(scored(Q, K)), index(kv) < nonpad);
      return attend(s, V);
    });
}  // namespace onnx
