#pragma once
// The kernels of spec.hpp with the model's own weights bound to them, packed.
#include <qkv/call.hpp>

#include "safetensors.hpp"
#include "spec.hpp"

namespace minilm {

// Each throws std::runtime_error when the model lacks a weight, or has it in another size.
qkv::prepared_kernel<embeddings> prepare_embeddings(safetensors &model);
qkv::prepared_kernel<layer> prepare_layer(safetensors &model, int number);
qkv::prepared_kernel<attention_weights> prepare_attention_weights(safetensors &model, int number);

}  // namespace minilm
