#pragma once
// The kernels of spec.hpp with the model's own weights bound to them, packed.
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

// Each throws std::runtime_error when the model lacks a weight, or has it in another size.
qkv::prepared_kernel<embeddings> prepare_embeddings(safetensors &model);
layer_weights read_layer(safetensors &model, int number);
qkv::prepared_kernel<layer> prepare_layer(safetensors &model, int number);
qkv::prepared_kernel<attention_weights> prepare_attention_weights(safetensors &model, int number);

}  // namespace minilm
