// SPDX-License-Identifier: BSL-1.0
#pragma once
// The whole model: tokens in, a vector of length 1 for each sentence out.
#include <qkv/call.hpp>
#include <vector>

#include "batch.hpp"
#include "safetensors.hpp"
#include "spec.hpp"

namespace minilm {

class encoder {
 public:
  explicit encoder(safetensors &model);

  // Both throw std::runtime_error: what a kernel says, more than 512 tokens.
  qkv::tensor<f32, batch, d_model> encode(const padded &) const;
  qkv::tensor<f32, batch, heads, seq, kv> first_attention(const padded &) const;

  using activations = qkv::tensor<f32, batch, seq, d_model>;
  // The input of the last layer.
  activations before_last(const padded &) const;

 private:
  activations embed(const padded &) const;
  activations after(std::size_t layers, const padded &) const;

  qkv::prepared_kernel<embeddings> embeddings_;
  std::vector<qkv::prepared_kernel<layer>> layers_;
  qkv::prepared_kernel<attention_weights> first_attention_;
};

}  // namespace minilm
