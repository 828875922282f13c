// SPDX-License-Identifier: BSL-1.0
#pragma once
// Attentions whose products run on tensor cores, and one whose scores CUDA has no text for.
#include "tests/support/attention_arguments.hpp"

namespace tensor {
using namespace attention_arguments;
inline constexpr batch_axis<"heads_of_layer", 2> heads_of_layer;
template <long N>
inline constexpr axis<"d_v", N> d_v;

inline constexpr auto full_bf16 = kernel<"full_bf16">(
    [](queries<bf16, 64> Q, keyed<bf16, keys, 64> K, valued<bf16, keys, 64> V) -> result<bf16, 64> {
      return scaled_dot_product<d<64>, keys>(Q, K, V);
    });
inline constexpr auto full_f16 = kernel<"full_f16">(
    [](queries<f16, 128> Q, keyed<f16, keys, 128> K, valued<f16, keys, 128> V) -> result<f16, 128> {
      return scaled_dot_product<d<128>, keys>(Q, K, V);
    });
// Results of f32: weights are sums of two numbers of 16 bits.
inline constexpr auto precise_f16 = kernel<"precise_f16">(
    [](queries<f16, 64> Q, keyed<f16, keys, 64> K, valued<f16, keys, 64> V) -> result<f32, 64> {
      return scaled_dot_product<d<64>, keys>(Q, K, V);
    });
// Three, of bf16.
inline constexpr auto precise_bf16 = kernel<"precise_bf16">(
    [](queries<bf16, 64> Q, keyed<bf16, keys, 64> K, valued<bf16, keys, 64> V) -> result<f32, 64> {
      return scaled_dot_product<d<64>, keys>(Q, K, V);
    });
inline constexpr auto causal_bf16 = kernel<"causal_bf16">(
    [](queries<bf16, 128> Q, keyed<bf16, kv, 128> K, valued<bf16, kv, 128> V) -> result<bf16, 128> {
      return scaled_dot_product<d<128>, kv>(Q, K, V, causal<seq, kv>);
    });
// Columns other than multiples of 64, queries in groups, a window, and a cap.
inline constexpr auto grouped_window =
    kernel<"grouped_window">([](in<"Q", bf16, batch, heads, group, seq, d<40>> Q,
                                keyed<bf16, kv, 40> K, in<"V", bf16, batch, heads, kv, d_v<72>> V)
                                 -> out<"O", bf16, batch, heads, group, seq, d_v<72>> {
      auto s = softcap(dot<d<40>>(Q, K) / sqrt(d<40>), 5.0f);
      return dot<kv>(softmax<kv>(mask(s, index(seq) - 40 < index(kv) && index(kv) <= index(seq))),
                     V);
    });
// The logsumexp beside the result, a bias per pair, documents, and lengths of the call.
inline constexpr auto biased_documents = kernel<"biased_documents">(
    [](queries<bf16, 64> Q, keyed<bf16, kv, 64> K, valued<bf16, kv, 64> V,
       in<"bias", heads, seq, kv> bias, in<"document", i32, batch, seq> document,
       in<"len", i32, batch> len) -> outs<result<bf16, 64>, out<"lse", batch, heads, seq>> {
      auto s = dot<d<64>>(Q, K) / sqrt(d<64>) + bias;
      auto m = mask(s, document == rename<seq, kv>(document) && index(kv) < len);
      return {dot<kv>(softmax<kv>(m), V), logsumexp<kv>(m)};
    });
// f32, as sums of two numbers of TF32.
inline constexpr auto full_f32 = kernel<"full_f32">(
    [](queries<f32, 128> Q, keyed<f32, keys, 128> K, valued<f32, keys, 128> V) -> result<f32, 128> {
      return scaled_dot_product<d<128>, keys>(Q, K, V);
    });
inline constexpr auto causal_f32 = kernel<"causal_f32">(
    [](in<"Q", batch, heads, seq, d<36>> Q, in<"K", batch, heads, kv, d<36>> K,
       in<"V", batch, heads, kv, d_v<20>> V)
        -> outs<out<"O", batch, heads, seq, d_v<20>>, out<"lse", batch, heads, seq>> {
      auto s = mask(dot<d<36>>(Q, K) / sqrt(d<36>), causal<seq, kv>);
      return {dot<kv>(softmax<kv>(s), V), logsumexp<kv>(s)};
    });
// Lengths of the call: a tile before the end needs no mask.
inline constexpr auto padded_f32 = kernel<"padded_f32">(
    [](in<"Q", batch, heads, seq, d<32>> Q, in<"K", batch, heads, keys, d<32>> K,
       in<"V", batch, heads, keys, d_v<24>> V,
       in<"len", i32, batch> len) -> out<"O", batch, heads, seq, d_v<24>> {
      auto s = mask(dot<d<32>>(Q, K) / sqrt(d<32>), index(keys) < len);
      return dot<keys>(softmax<keys>(s), V);
    });
// Scores that are rounded to 16 bits, with a factor per row.
inline constexpr auto rounded_scores = kernel<"rounded_scores">(
    [](in<"Q", bf16, batch, seq, d<16>> Q, in<"K", bf16, batch, keys, d<16>> K,
       in<"V", bf16, batch, keys, d_v<16>> V,
       in<"temperature", bf16, batch, seq> temperature) -> out<"O", bf16, batch, seq, d_v<16>> {
      auto s = cast<bf16>(dot<d<16>>(Q * temperature, K));
      return dot<keys>(softmax<keys>(s), V);
    });
// cos has no text in CUDA: Halide writes all of this.
inline constexpr auto without_text = kernel<"without_text">(
    [](in<"Q", batch, seq, d<16>> Q, in<"K", batch, keys, d<16>> K, in<"V", batch, keys, d_v<16>> V,
       in<"phase", seq> phase) -> out<"O", batch, seq, d_v<16>> {
      return dot<keys>(softmax<keys>(dot<d<16>>(Q, K) * cos(phase)), V);
    });
inline constexpr auto wide_f32 =
    kernel<"wide_f32">([](in<"Q", batch, seq, d<200>> Q, in<"K", batch, keys, d<200>> K,
                          in<"V", batch, keys, d_v<256>> V) -> out<"O", batch, seq, d_v<256>> {
      return dot<keys>(softmax<keys>(dot<d<200>>(Q, K) / sqrt(d<200>)), V);
    });
// A layer: queries, keys and values are steps that the kernel stores, and so is the result.
inline constexpr axis<"d_model", 48> d_model;
inline constexpr axis<"d_out", 48> d_out;
inline constexpr auto layer_f32 = kernel<"layer_f32">(
    [](in<"X", batch, seq, d_model> X, param<"Wq", d_model, heads_of_layer, d<24>> Wq,
       param<"Wk", d_model, heads_of_layer, d<24>> Wk,
       param<"Wv", d_model, heads_of_layer, d<24>> Wv,
       param<"Wo", heads_of_layer, d<24>, d_out> Wo) -> out<"Y", batch, seq, d_out> {
      auto Q = dot<d_model>(X, Wq);
      auto K = rename<seq, kv>(dot<d_model>(X, Wk));
      auto V = rename<seq, kv>(dot<d_model>(X, Wv));
      auto s = mask(dot<d<24>>(Q, K) / sqrt(d<24>), causal<seq, kv>);
      return dot<heads_of_layer, d<24>>(dot<kv>(softmax<kv>(s), V), Wo);
    });
// One step of decoding, without an axis of queries: the group is that. Keys are split among blocks.
inline constexpr auto decode_bf16 = kernel<"decode_bf16">(
    [](in<"Q", bf16, batch, heads, group, d<64>> Q, keyed<bf16, keys, 64> K,
       valued<bf16, keys, 64> V, in<"slope", heads, group> slope, in<"len", i32, batch> len)
        -> outs<out<"O", bf16, batch, heads, group, d<64>>, out<"lse", batch, heads, group>> {
      auto s = mask(dot<d<64>>(Q, K) / sqrt(d<64>) + slope * index(keys), index(keys) < len);
      return {dot<keys>(softmax<keys>(s), V), logsumexp<keys>(s)};
    });
// Rows of a group fold into one tile; their scores read memory along the folded axis.
inline constexpr auto folded_bias = kernel<"folded_bias">(
    [](in<"Q", batch, heads, group, seq, d<32>> Q, in<"K", batch, heads, keys, d<32>> K,
       in<"V", batch, heads, keys, d_v<25>> V, in<"bias", batch, heads, group, seq, keys> bias,
       in<"slope", heads, group> slope)
        -> outs<out<"O", batch, heads, group, seq, d_v<25>>, out<"lse", batch, heads, group, seq>> {
      auto s = dot<d<32>>(Q, K) / sqrt(d<32>) + slope * index(keys) + bias;
      return {dot<keys>(softmax<keys>(s), V), logsumexp<keys>(s)};
    });
// Heads of 96 features, whose pieces do not divide evenly among the threads of a block.
inline constexpr auto wide_f32_bias = kernel<"wide_f32_bias">(
    [](in<"Q", batch, seq, d<96>> Q, in<"K", batch, keys, d<96>> K, in<"V", batch, keys, d_v<72>> V,
       in<"bias", seq, keys> bias) -> out<"O", batch, seq, d_v<72>> {
      return dot<keys>(softmax<keys>(dot<d<96>>(Q, K) / sqrt(d<96>) + bias), V);
    });
// Pointwise steps after the sum.
inline constexpr auto residual_bf16 = kernel<"residual_bf16">(
    [](queries<bf16, 64> Q, keyed<bf16, kv, 64> K, valued<bf16, kv, 64> V) -> result<bf16, 64> {
      auto s = mask(dot<d<64>>(Q, K) / sqrt(d<64>), causal<seq, kv>);
      return cast<bf16>(Q + dot<kv>(softmax<kv>(s), V));
    });
// The first result reads the logsumexp: it must wait for the kernel that writes both.
inline constexpr auto lse_first = kernel<"lse_first">(
    [](in<"Q", batch, heads, seq, d<32>> Q, in<"K", batch, heads, keys, d<32>> K,
       in<"V", batch, heads, keys, d_v<24>> V, in<"gate", batch, heads, seq, d_v<24>> gate)
        -> outs<out<"Z", batch, heads>, out<"O", batch, heads, seq, d_v<24>>> {
      auto s = dot<d<32>>(Q, K) / sqrt(d<32>);
      return {sum<seq>(logsumexp<keys>(s)), dot<keys>(softmax<keys>(s), V) * sigmoid(gate)};
    });
// ---- gradients ----------------------------------------------------------------------------------
// Sums over the keys of a query and over the queries of a key, of every kind of score above.
inline constexpr auto of_full_bf16 = gradient<full_bf16>;
inline constexpr auto of_full_f16 = gradient<full_f16>;
inline constexpr auto of_causal_bf16 = gradient<causal_bf16>;
inline constexpr auto of_grouped_window = gradient<grouped_window>;
inline constexpr auto of_biased_documents = gradient<biased_documents>;
inline constexpr auto of_causal_f32 = gradient<causal_f32>;
inline constexpr auto of_padded_f32 = gradient<padded_f32>;
inline constexpr auto of_residual_bf16 = gradient<residual_bf16>;
inline constexpr auto of_layer_f32 = gradient<layer_f32>;
// ---- contractions -------------------------------------------------------------------------------
template <long N>
inline constexpr axis<"to", N> to;
// Weights whose columns are neighbours, and pointwise steps after the sum.
inline constexpr auto project_bf16 = kernel<"project_bf16">(
    [](in<"X", bf16, batch, seq, d_model> X, param<"W", bf16, d_model, to<200>> W,
       in<"bias", to<200>> bias) -> out<"Y", bf16, batch, seq, to<200>> {
      return cast<bf16>(relu(dot<d_model>(X, W) + bias));
    });
// Weights that lie by depth; sums of f32, some of them masked.
inline constexpr auto project_f32 =
    kernel<"project_f32">([](in<"X", batch, seq, d<100>> X, param<"W", to<70>, d<100>> W,
                             in<"len", i32, batch> len) -> out<"Y", batch, seq, to<70>> {
      return mask(dot<d<100>>(X, W), index(seq) < len);
    });
inline constexpr auto pairs_f16 =
    kernel<"pairs_f16">([](in<"X", f16, batch, seq, d<30>> X,
                           in<"Y", f16, batch, keys, d<30>> Y) -> out<"S", batch, seq, keys> {
      return dot<d<30>>(X, Y);
    });
// Columns that are not innermost in the result.
inline constexpr auto columns_first = kernel<"columns_first">(
    [](in<"X", batch, seq, d<40>> X, param<"W", to<70>, d<40>> W) -> out<"Y", batch, to<70>, seq> {
      return dot<d<40>>(X, W);
    });
// Three axes are summed up; an odd number of columns of 16 bits.
inline constexpr batch_axis<"part", 3> part;
inline constexpr auto odd_columns =
    kernel<"odd_columns">([](in<"X", bf16, batch, seq, part, heads_of_layer, d<24>> X,
                             param<"W", bf16, part, heads_of_layer, d<24>, to<33>> W)
                              -> out<"Y", bf16, batch, seq, to<33>> {
      return cast<bf16>(dot<part, heads_of_layer, d<24>>(X, W));
    });
// Few static rows of each of many positions, which fold into many.
inline constexpr auto few_rows_of_many = kernel<"few_rows_of_many">(
    [](in<"X", bf16, seq, heads_of_layer, d<40>> X,
       param<"W", bf16, d<40>, to<72>> W) -> out<"Y", bf16, seq, heads_of_layer, to<72>> {
      return cast<bf16>(dot<d<40>>(X, W));
    });
// The gradient of weights: both operands lie by what is not summed up.
inline constexpr auto weights_f32 =
    kernel<"weights_f32">([](in<"X", batch, seq, d<40>> X,
                             in<"dY", batch, seq, to<72>> dY) -> out<"dW", batch, d<40>, to<72>> {
      return dot<seq>(X, dY);
    });
inline constexpr auto weights_bf16 = kernel<"weights_bf16">(
    [](in<"X", bf16, batch, seq, d<40>> X,
       in<"dY", bf16, batch, seq, to<72>> dY) -> out<"dW", batch, d<40>, to<72>> {
      return dot<seq>(X, dY);
    });
// Results of 16 bits and many columns, with operands of every layout.
inline constexpr auto wide_pairs_f16 = kernel<"wide_pairs_f16">(
    [](in<"X", f16, batch, seq, d<30>> X,
       in<"Y", f16, batch, keys, d<30>> Y) -> out<"S", f16, batch, seq, keys> {
      return cast<f16>(dot<d<30>>(X, Y));
    });
inline constexpr auto wide_columns_first = kernel<"wide_columns_first">(
    [](in<"X", bf16, batch, seq, d<72>> X,
       param<"W", bf16, to<200>, d<72>> W) -> out<"Y", bf16, batch, to<200>, seq> {
      return cast<bf16>(dot<d<72>>(X, W));
    });
inline constexpr auto wide_weights_bf16 = kernel<"wide_weights_bf16">(
    [](in<"X", bf16, batch, seq, d<136>> X,
       in<"dY", bf16, batch, seq, to<200>> dY) -> out<"dW", bf16, batch, d<136>, to<200>> {
      return cast<bf16>(dot<seq>(X, dY));
    });
}  // namespace tensor
