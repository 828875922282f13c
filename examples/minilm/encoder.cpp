#include "encoder.hpp"

#include <algorithm>
#include <stdexcept>

#include "weights.hpp"

namespace minilm {
namespace {

constexpr std::size_t features = 384, tokens = 30522, positions = 512;
constexpr int layers = 6;

void require(const qkv::status &s) {
  if (!s) throw std::runtime_error(s.text());
}

qkv::const_tensor_view<i32, batch> lengths_of(const padded &p) {
  return {p.lengths.data(), {p.sentences()}};
}

}  // namespace

encoder::encoder(safetensors &model)
    : words_(model.read("embeddings.word_embeddings.weight", tokens * features)),
      positions_(model.read("embeddings.position_embeddings.weight", positions * features)),
      embeddings_(prepare_embeddings(model)),
      first_attention_(prepare_attention_weights(model, 0)) {
  for (int k = 0; k < layers; ++k) layers_.push_back(prepare_layer(model, k));
}

// The embedding of each token, as the model learned it.
encoder::activations encoder::gather(const padded &p) const {
  activations rows({p.sentences(), p.width});
  float *to = rows.data();
  for (const std::int32_t id : p.ids) {
    const auto row = static_cast<std::size_t>(id);
    if (row >= tokens) throw std::runtime_error("the model has no token " + std::to_string(id));
    to = std::copy_n(words_.data() + row * features, features, to);
  }
  return rows;
}

encoder::activations encoder::embed(const padded &p) const {
  if (p.width > positions)
    throw std::runtime_error("a sentence has more tokens than the model has positions");
  activations X({p.sentences(), p.width});
  const qkv::const_tensor_view<f32, seq, d_model> position(positions_.data(), {p.width});
  require(embeddings_(gather(p), position, X));
  return X;
}

qkv::tensor<f32, batch, d_model> encoder::encode(const padded &p) const {
  activations X = embed(p), Y({p.sentences(), p.width});
  for (const auto &next : layers_) {
    require(next(X, lengths_of(p), Y));
    std::swap(X, Y);
  }
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
