// SPDX-License-Identifier: BSL-1.0
#pragma once
// The ONNX operators Attention, FlexAttention and Softmax as specs: one kernel for each kind of
// case.
#include <limits>
#include <qkv/dsl.hpp>

namespace onnx {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads"> heads;  // of the queries, or of everything
inline constexpr batch_axis<"group"> group;  // query heads that share a key head
inline constexpr axis<"seq"> seq;
inline constexpr axis<"kv"> kv;    // cross-attention: not bound to seq
inline constexpr axis<"d_k"> d_k;  // decided at the call, as everything here
inline constexpr axis<"d_v"> d_v;

using queries = in<"Q", batch, heads, seq, d_k>;
using keys = in<"K", batch, heads, kv, d_k>;
using values = in<"V", batch, heads, kv, d_v>;
using grouped_queries = in<"Q", batch, heads, group, seq, d_k>;
using result = out<"Y", batch, heads, seq, d_v>;
using grouped_result = out<"Y", batch, heads, group, seq, d_v>;
using score_result = out<"scores", batch, heads, seq, kv>;

constexpr auto scored(auto Q, auto K) { return dot<d_k>(Q, K) / sqrt(d_k); }
constexpr auto attend(auto scores, auto V) { return dot<kv>(softmax<kv>(scores), V); }
constexpr auto capped(auto s, auto cap) { return cap * tanh(s / cap); }
constexpr auto causal_mask(auto s) { return mask(s, index(kv) <= index(seq)); }

// Attention
inline constexpr auto plain =
    kernel<"plain">([](queries Q, keys K, values V) -> result { return attend(scored(Q, K), V); });
inline constexpr auto scaled =
    kernel<"scaled">([](queries Q, keys K, values V, param<"scale"> scale) -> result {
      return attend(dot<d_k>(Q, K) * scale, V);
    });
inline constexpr auto softcap =
    kernel<"softcap">([](queries Q, keys K, values V, param<"cap"> cap) -> result {
      return attend(capped(scored(Q, K), cap), V);
    });
inline constexpr auto causal = kernel<"causal">(
    [](queries Q, keys K, values V) -> result { return attend(causal_mask(scored(Q, K)), V); });
inline constexpr auto mask_2d =
    kernel<"mask_2d">([](queries Q, keys K, values V, in<"mask", seq, kv> M) -> result {
      return attend(scored(Q, K) + M, V);
    });
inline constexpr auto mask_3d =
    kernel<"mask_3d">([](queries Q, keys K, values V, in<"mask", batch, seq, kv> M) -> result {
      return attend(scored(Q, K) + M, V);
    });
inline constexpr auto mask_3d_causal = kernel<"mask_3d_causal">(
    [](queries Q, keys K, values V, in<"mask", batch, seq, kv> M) -> result {
      return attend(causal_mask(scored(Q, K) + M), V);
    });
inline constexpr auto mask_4d = kernel<"mask_4d">(
    [](queries Q, keys K, values V, in<"mask", batch, heads, seq, kv> M) -> result {
      return attend(scored(Q, K) + M, V);
    });
inline constexpr auto mask_4d_causal = kernel<"mask_4d_causal">(
    [](queries Q, keys K, values V, in<"mask", batch, heads, seq, kv> M) -> result {
      return attend(causal_mask(scored(Q, K) + M), V);
    });
inline constexpr auto keep_2d =
    kernel<"keep_2d">([](queries Q, keys K, values V, in<"mask", b8, seq, kv> M) -> result {
      return attend(mask(scored(Q, K), M), V);
    });
inline constexpr auto keep_4d = kernel<"keep_4d">(
    [](queries Q, keys K, values V, in<"mask", b8, batch, heads, seq, kv> M) -> result {
      return attend(mask(scored(Q, K), M), V);
    });
inline constexpr auto softcap_mask = kernel<"softcap_mask">(
    [](queries Q, keys K, values V, in<"mask", seq, kv> M, param<"cap"> cap) -> result {
      return attend(capped(scored(Q, K), cap) + M, V);
    });

// Attention, several query heads a key head
inline constexpr auto grouped = kernel<"grouped">(
    [](grouped_queries Q, keys K, values V) -> grouped_result { return attend(scored(Q, K), V); });
inline constexpr auto grouped_scaled = kernel<"grouped_scaled">(
    [](grouped_queries Q, keys K, values V, param<"scale"> scale) -> grouped_result {
      return attend(dot<d_k>(Q, K) * scale, V);
    });
inline constexpr auto grouped_softcap = kernel<"grouped_softcap">(
    [](grouped_queries Q, keys K, values V, param<"cap"> cap) -> grouped_result {
      return attend(capped(scored(Q, K), cap), V);
    });
inline constexpr auto grouped_causal =
    kernel<"grouped_causal">([](grouped_queries Q, keys K, values V) -> grouped_result {
      return attend(causal_mask(scored(Q, K)), V);
    });
inline constexpr auto grouped_mask = kernel<"grouped_mask">(
    [](grouped_queries Q, keys K, values V, in<"mask", seq, kv> M) -> grouped_result {
      return attend(scored(Q, K) + M, V);
    });

// Attention, the scores as a second output
inline constexpr auto scores_raw =
    kernel<"scores_raw">([](queries Q, keys K, values V) -> outs<result, score_result> {
      auto s = scored(Q, K);
      return {attend(s, V), s};
    });
inline constexpr auto scores_biased = kernel<"scores_biased">(
    [](queries Q, keys K, values V, in<"mask", seq, kv> M) -> outs<result, score_result> {
      auto s = scored(Q, K) + M;
      return {attend(s, V), s};
    });
inline constexpr auto scores_capped =
    kernel<"scores_capped">([](queries Q, keys K, values V, in<"mask", seq, kv> M,
                               param<"cap"> cap) -> outs<result, score_result> {
      auto s = capped(scored(Q, K), cap);
      return {attend(s + M, V), s};
    });
inline constexpr auto scores_softmax = kernel<"scores_softmax">(
    [](queries Q, keys K, values V, in<"mask", seq, kv> M) -> outs<result, score_result> {
      auto weights = softmax<kv>(scored(Q, K) + M);
      return {dot<kv>(weights, V), weights};
    });

// FlexAttention: functions of the score, or of the weights
inline constexpr auto flex_causal =
    kernel<"flex_causal">([](queries Q, keys K, values V) -> result {
      const float nothing = -std::numeric_limits<float>::infinity();
      return attend(where(index(seq) >= index(kv), scored(Q, K), nothing), V);
    });
inline constexpr auto flex_score = kernel<"flex_score">(
    [](queries Q, keys K, values V) -> result { return attend(scored(Q, K) + 0.5f, V); });
inline constexpr auto flex_weights =
    kernel<"flex_weights">([](queries Q, keys K, values V) -> result {
      return dot<kv>(let<"halved">(softmax<kv>(scored(Q, K)) * 0.5f), V);
    });
inline constexpr auto flex_relative =
    kernel<"flex_relative">([](queries Q, keys K, values V) -> result {
      return attend(scored(Q, K) + (index(seq) - index(kv)), V);
    });

// Softmax
inline constexpr axis<"planes"> planes;
inline constexpr axis<"rows"> rows;
inline constexpr axis<"columns"> columns;
using cube = in<"X", planes, rows, columns>;
using softened = out<"Y", planes, rows, columns>;
inline constexpr auto softmax_planes =
    kernel<"softmax_planes">([](cube X) -> softened { return softmax<planes>(X); });
inline constexpr auto softmax_rows =
    kernel<"softmax_rows">([](cube X) -> softened { return softmax<rows>(X); });
inline constexpr auto softmax_columns =
    kernel<"softmax_columns">([](cube X) -> softened { return softmax<columns>(X); });
}  // namespace onnx
