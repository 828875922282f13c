// SPDX-License-Identifier: BSL-1.0
#include "encoder.hpp"

#include <stdexcept>
#include <utility>

#include "weights.hpp"

namespace minilm {
namespace {

constexpr std::size_t most_tokens = 512;  // positions that the model has learned

void require(const qkv::status &s) {
  if (!s) throw std::runtime_error(s.text());
}

qkv::const_tensor_view<i32, batch> lengths_of(const padded &p) {
  return {p.lengths.data(), {p.sentences()}};
}

}  // namespace

encoder::encoder(safetensors &model)
    : embeddings_(prepare_embeddings(model)),
      first_attention_(prepare_attention_weights(model, 0)) {
  for (int k = 0; k < layers; ++k) layers_.push_back(prepare_layer(model, k));
}

encoder::activations encoder::embed(const padded &p) const {
  if (p.width > most_tokens) throw std::runtime_error("a sentence has more than 512 tokens");
  activations X({p.sentences(), p.width});
  const qkv::const_tensor_view<i32, batch, seq> tokens(p.ids.data(), {p.sentences(), p.width});
  require(embeddings_(tokens, X));
  return X;
}

encoder::activations encoder::after(std::size_t n, const padded &p) const {
  activations X = embed(p), Y({p.sentences(), p.width});
  for (std::size_t k = 0; k < n; ++k) {
    require(layers_[k](X, lengths_of(p), Y));
    std::swap(X, Y);
  }
  return X;
}

encoder::activations encoder::before_last(const padded &p) const {
  return after(layers_.size() - 1, p);
}

qkv::tensor<f32, batch, d_model> encoder::encode(const padded &p) const {
  const activations X = after(layers_.size(), p);
  qkv::tensor<f32, batch, d_model> sentences({p.sentences()});
  require(qkv::call<pooling>(X, lengths_of(p), sentences));
  return sentences;
}

qkv::tensor<f32, batch, heads, seq, kv> encoder::first_attention(const padded &p) const {
  qkv::tensor<f32, batch, heads, seq, kv> W({p.sentences(), p.width, p.width});
  require(first_attention_(embed(p), lengths_of(p), W));
  return W;
}

}  // namespace minilm
