// SPDX-License-Identifier: BSL-1.0
#pragma once
// The model's own weights, and the kernels of spec.hpp with them bound, packed.
#include <iterator>
#include <qkv/call.hpp>
#include <tuple>

#include "safetensors.hpp"
#include "spec.hpp"

namespace minilm {

// The weights of a layer, in the order of its kernel's arguments.
using layer_weights =
    std::tuple<qkv::tensor<f32, heads, d_k, d_model>, qkv::tensor<f32, heads, d_k>,
               qkv::tensor<f32, heads, d_k, d_model>, qkv::tensor<f32, heads, d_k>,
               qkv::tensor<f32, heads, d_k, d_model>, qkv::tensor<f32, heads, d_k>,
               qkv::tensor<f32, d_model, heads, d_k>, qkv::tensor<f32, d_model>,
               qkv::tensor<f32, d_model>, qkv::tensor<f32, d_model>,
               qkv::tensor<f32, d_ff, d_model>, qkv::tensor<f32, d_ff>,
               qkv::tensor<f32, d_model, d_ff>, qkv::tensor<f32, d_model>,
               qkv::tensor<f32, d_model>, qkv::tensor<f32, d_model>>;

// Their names, in the same order.
inline constexpr const char *weight_names[] = {"Wq", "bq", "Wk",     "bk",    "Wv", "bv",
                                               "Wo", "bo", "gamma1", "beta1", "W1", "b1",
                                               "W2", "b2", "gamma2", "beta2"};
static_assert(std::size(weight_names) == std::tuple_size_v<layer_weights>);

inline constexpr int layers = 6;

// Each throws std::runtime_error when the model lacks a weight, or has it in another size.
qkv::prepared_kernel<embeddings> prepare_embeddings(safetensors &model);
layer_weights read_layer(safetensors &model, int number);
qkv::prepared_kernel<layer> prepare_layer(safetensors &model, int number);
qkv::prepared_kernel<attention_weights> prepare_attention_weights(safetensors &model, int number);

}  // namespace minilm
