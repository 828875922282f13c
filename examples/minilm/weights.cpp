// SPDX-License-Identifier: BSL-1.0
#include "weights.hpp"

#include <algorithm>
#include <stdexcept>

namespace minilm {
namespace {

template <auto... Axis>
qkv::tensor<f32, Axis...> read(safetensors &model, const std::string &name) {
  qkv::tensor<f32, Axis...> t;
  const auto numbers = model.read(name, static_cast<std::size_t>(t.elements()));
  std::ranges::copy(numbers, t.begin());
  return t;
}

template <class Prepared>
Prepared whole(Prepared kernel) {
  if (!kernel.ok()) throw std::runtime_error(kernel.status().text());
  return kernel;
}

std::string layer_name(int number) { return "encoder.layer." + std::to_string(number) + "."; }

}  // namespace

qkv::prepared_kernel<embeddings> prepare_embeddings(safetensors &model) {
  const std::string name = "embeddings.";
  qkv::tensor<f32, d_model> kind;  // the first of two kinds of sentences; the model uses no other
  std::ranges::copy(
      model.row(name + "token_type_embeddings.weight", 0, std::size_t(kind.elements())),
      kind.begin());
  return whole(
      qkv::prepare<embeddings>(read<vocabulary, d_model>(model, name + "word_embeddings.weight"),
                               read<positions, d_model>(model, name + "position_embeddings.weight"),
                               kind, read<d_model>(model, name + "LayerNorm.weight"),
                               read<d_model>(model, name + "LayerNorm.bias")));
}

layer_weights read_layer(safetensors &model, int number) {
  const std::string name = layer_name(number), self = name + "attention.self.";
  const auto in = [&](const char *part) {
    return read<heads, d_k, d_model>(model, self + part + ".weight");
  };
  const auto in_bias = [&](const char *part) {
    return read<heads, d_k>(model, self + part + ".bias");
  };
  const auto row = [&](const char *part) { return read<d_model>(model, name + part); };
  return {in("query"),
          in_bias("query"),
          in("key"),
          in_bias("key"),
          in("value"),
          in_bias("value"),
          read<d_model, heads, d_k>(model, name + "attention.output.dense.weight"),
          row("attention.output.dense.bias"),
          row("attention.output.LayerNorm.weight"),
          row("attention.output.LayerNorm.bias"),
          read<d_ff, d_model>(model, name + "intermediate.dense.weight"),
          read<d_ff>(model, name + "intermediate.dense.bias"),
          read<d_model, d_ff>(model, name + "output.dense.weight"),
          row("output.dense.bias"),
          row("output.LayerNorm.weight"),
          row("output.LayerNorm.bias")};
}

qkv::prepared_kernel<layer> prepare_layer(safetensors &model, int number) {
  return whole(std::apply([](const auto &...w) { return qkv::prepare<layer>(w...); },
                          read_layer(model, number)));
}

qkv::prepared_kernel<attention_weights> prepare_attention_weights(safetensors &model, int number) {
  const std::string self = layer_name(number) + "attention.self.";
  return whole(
      qkv::prepare<attention_weights>(read<heads, d_k, d_model>(model, self + "query.weight"),
                                      read<heads, d_k>(model, self + "query.bias"),
                                      read<heads, d_k, d_model>(model, self + "key.weight"),
                                      read<heads, d_k>(model, self + "key.bias")));
}

}  // namespace minilm
