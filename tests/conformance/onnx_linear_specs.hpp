// SPDX-License-Identifier: BSL-1.0
#pragma once
// The ONNX operator LinearAttention: its four rules, with a state of before or without. Decay and
// beta may be the same for all features, or heads.
#include "onnx_specs.hpp"

namespace onnx {

template <dtype T>
using linear_queries = in<"Q", T, batch, heads, group, seq, d_k>;
template <dtype T>
using linear_keys = in<"K", T, batch, heads, seq, d_k>;
template <dtype T>
using linear_values = in<"V", T, batch, heads, seq, d_v>;
template <dtype T>
using decays = in<"decay", T, batch, heads, seq, d_k>;
template <dtype T>
using betas = in<"beta", T, batch, seq, heads>;
using linear_state = in<"past_state", batch, heads, d_k, d_v>;
template <dtype T>
using linear_results = outs<out<"Y", T, batch, heads, group, seq, d_v>,
                            out<"present_state", T, batch, heads, d_k, d_v>>;

constexpr auto no_state = zeros<batch, heads, d_k, d_v>();

inline constexpr auto linear =
    kernel<"linear">([](linear_queries<f32> Q, linear_keys<f32> K, linear_values<f32> V,
                        param<"scale"> scale) -> linear_results<f32> {
      auto [y, s] = recurrent_attention<d_k, seq, d_v>(no_state, Q, K, V);
      return {y * scale, s};
    });
inline constexpr auto linear_gated =
    kernel<"linear_gated">([](linear_queries<f32> Q, linear_keys<f32> K, linear_values<f32> V,
                              decays<f32> g, param<"scale"> scale) -> linear_results<f32> {
      auto [y, s] = gated_attention<d_k, seq, d_v>(no_state, Q, K, V, g);
      return {y * scale, s};
    });
inline constexpr auto linear_gated_heads = kernel<"linear_gated_heads">(
    [](linear_queries<f32> Q, linear_keys<f32> K, linear_values<f32> V,
       in<"decay", batch, seq, heads> g, param<"scale"> scale) -> linear_results<f32> {
      auto [y, s] = gated_attention<d_k, seq, d_v>(no_state, Q, K, V, broadcast<d_k>(g));
      return {y * scale, s};
    });
inline constexpr auto linear_delta =
    kernel<"linear_delta">([](linear_queries<f32> Q, linear_keys<f32> K, linear_values<f32> V,
                              betas<f32> beta, param<"scale"> scale) -> linear_results<f32> {
      auto [y, s] = delta_rule<d_k, seq, d_v>(no_state, Q, K, V, beta);
      return {y * scale, s};
    });
inline constexpr auto linear_gated_delta = kernel<"linear_gated_delta">(
    [](linear_queries<f32> Q, linear_keys<f32> K, linear_values<f32> V, decays<f32> g,
       betas<f32> beta, param<"scale"> scale) -> linear_results<f32> {
      auto [y, s] = gated_delta_rule<d_k, seq, d_v>(no_state, Q, K, V, g, beta);
      return {y * scale, s};
    });
inline constexpr auto linear_gated_delta_steps = kernel<"linear_gated_delta_steps">(
    [](linear_queries<f32> Q, linear_keys<f32> K, linear_values<f32> V, decays<f32> g,
       in<"beta", batch, seq> beta, param<"scale"> scale) -> linear_results<f32> {
      auto [y, s] = gated_delta_rule<d_k, seq, d_v>(no_state, Q, K, V, g, beta);
      return {y * scale, s};
    });
inline constexpr auto linear_gated_delta_past = kernel<"linear_gated_delta_past">(
    [](linear_queries<f32> Q, linear_keys<f32> K, linear_values<f32> V, linear_state S,
       decays<f32> g, betas<f32> beta, param<"scale"> scale) -> linear_results<f32> {
      auto [y, s] = gated_delta_rule<d_k, seq, d_v>(S, Q, K, V, g, beta);
      return {y * scale, s};
    });
inline constexpr auto linear_gated_delta_f16 = kernel<"linear_gated_delta_f16">(
    [](linear_queries<f16> Q, linear_keys<f16> K, linear_values<f16> V, decays<f16> g,
       betas<f16> beta, param<"scale"> scale) -> linear_results<f16> {
      auto [y, s] = gated_delta_rule<d_k, seq, d_v>(no_state, Q, K, V, g, beta);
      return {y * scale, s};
    });

}  // namespace onnx
