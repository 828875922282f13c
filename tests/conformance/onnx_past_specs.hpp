// SPDX-License-Identifier: BSL-1.0
#pragma once
// The ONNX operator Attention with a cache of keys and values, and with fewer keys than there is
// room for. One kernel for each kind of result: masks of every rank, and heads alone or in groups,
// are views with other strides (0 along an axis that a mask lacks).
#include "onnx_specs.hpp"

namespace onnx {
inline constexpr axis<"past"> past;  // keys of before
inline constexpr axis<"now"> now;    // keys of this call; together they are kv

using new_keys = in<"K", batch, heads, now, d_k>;
using new_values = in<"V", batch, heads, now, d_v>;
using past_keys = in<"past_key", batch, heads, past, d_k>;
using past_values = in<"past_value", batch, heads, past, d_v>;
using present_keys = out<"present_key", batch, heads, kv, d_k>;
using present_values = out<"present_value", batch, heads, kv, d_v>;
using cached_bias = in<"mask", batch, heads, group, seq, kv>;
using cached_scores = out<"scores", batch, heads, group, seq, kv>;

// Query i is at i + size(past) among the keys.
constexpr auto causal_after_past(auto s) { return mask(s, index(kv) <= index(seq) + size(past)); }

inline constexpr auto with_past =
    kernel<"with_past">([](grouped_queries Q, new_keys K, new_values V, cached_bias M, past_keys PK,
                           past_values PV) -> outs<grouped_result, present_keys, present_values> {
      auto keys = concat<kv>(PK, K);
      auto values = concat<kv>(PV, V);
      return {attend(scored(Q, keys) + M, values), keys, values};
    });

// The scores as an output: as they are, after the cap, after the masks, after the softmax.
inline constexpr auto past_raw = kernel<"past_raw">(
    [](grouped_queries Q, new_keys K, new_values V, cached_bias M, past_keys PK,
       past_values PV) -> outs<grouped_result, present_keys, present_values, cached_scores> {
      auto keys = concat<kv>(PK, K);
      auto values = concat<kv>(PV, V);
      auto s = scored(Q, keys);
      return {attend(s + M, values), keys, values, s};
    });
inline constexpr auto past_capped = kernel<"past_capped">(
    [](grouped_queries Q, new_keys K, new_values V, cached_bias M, past_keys PK, past_values PV,
       param<"cap"> cap) -> outs<grouped_result, present_keys, present_values, cached_scores> {
      auto keys = concat<kv>(PK, K);
      auto values = concat<kv>(PV, V);
      auto s = capped(scored(Q, keys), cap);
      return {attend(s + M, values), keys, values, s};
    });
inline constexpr auto past_biased = kernel<"past_biased">(
    [](grouped_queries Q, new_keys K, new_values V, cached_bias M, past_keys PK,
       past_values PV) -> outs<grouped_result, present_keys, present_values, cached_scores> {
      auto keys = concat<kv>(PK, K);
      auto values = concat<kv>(PV, V);
      auto s = scored(Q, keys) + M;
      return {attend(s, values), keys, values, s};
    });
inline constexpr auto past_biased_causal = kernel<"past_biased_causal">(
    [](grouped_queries Q, new_keys K, new_values V, cached_bias M, past_keys PK,
       past_values PV) -> outs<grouped_result, present_keys, present_values, cached_scores> {
      auto keys = concat<kv>(PK, K);
      auto values = concat<kv>(PV, V);
      auto s = causal_after_past(scored(Q, keys) + M);
      return {attend(s, values), keys, values, s};
    });
inline constexpr auto past_softmax = kernel<"past_softmax">(
    [](grouped_queries Q, new_keys K, new_values V, cached_bias M, past_keys PK,
       past_values PV) -> outs<grouped_result, present_keys, present_values, cached_scores> {
      auto keys = concat<kv>(PK, K);
      auto values = concat<kv>(PV, V);
      auto weights = softmax<kv>(scored(Q, keys) + M);
      return {dot<kv>(weights, values), keys, values, weights};
    });

// A mask of fewer keys than there are, and a length for each sequence: keys beyond either are not
// seen.
inline constexpr axis<"masked"> masked;
inline constexpr auto padded =
    kernel<"padded">([](queries Q, keys K, values V, in<"mask", batch, heads, seq, masked> M,
                        in<"nonpad", i32, batch> nonpad) -> result {
      auto s = scored(Q, K) + take<masked>(M, index(kv));
      return attend(mask(s, index(kv) < size(masked) && index(kv) < nonpad), V);
    });
}  // namespace onnx
