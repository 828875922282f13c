// Three sentences through the first attention block of all-MiniLM-L6-v2, compared with what the original computed.
//
//   minilm MODEL OUT      MODEL: folder of model.safetensors and vocab.txt; OUT: where the picture goes
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <qkv/call.hpp>
#include <qkv/npy.hpp>
#include <stdexcept>

#include "codegen/sheets/attention_map.hpp"
#include "safetensors.hpp"
#include "spec.hpp"

namespace {

using namespace minilm;
constexpr std::size_t features = 384;
const std::string layer = "encoder.layer.0.attention.";

void require(const qkv::status &s) {
  if (!s) throw std::runtime_error(s.text());
}

template <class Number>
std::vector<Number> expected(const std::string &name) {
  qkv::npy_array array;
  require(qkv::read_npy(EXPECTED "/" + name + ".npy", array));
  const auto *first = reinterpret_cast<const Number *>(array.data.data());
  return {first, first + array.elements()};
}

std::vector<std::string> lines(const std::string &path) {
  std::ifstream file(path);
  std::vector<std::string> all;
  for (std::string line; std::getline(file, line);) all.push_back(line);
  if (all.empty()) throw std::runtime_error("cannot read " + path);
  return all;
}

// The largest difference over the tokens that are not padding.
double error_of(const auto &got, const std::vector<float> &want,
                const std::vector<std::int32_t> &lengths, std::size_t n) {
  double worst = 0;
  for (std::size_t b = 0; b < lengths.size(); ++b)
    for (std::size_t k = 0; k < static_cast<std::size_t>(lengths[b]) * features; ++k) {
      const std::size_t at = b * n * features + k;
      worst = std::max(worst, std::abs(double(got.data()[at]) - want[at]));
    }
  return worst;
}

bool report(const char *what, double error) {
  std::printf("%-42s differs by %.1e: %s\n", what, error, error < 1e-5 ? "right" : "WRONG");
  return error < 1e-5;
}

bool run(const std::string &model_folder, const std::string &out) {
  const auto vocabulary = lines(model_folder + "/vocab.txt");
  const auto sentences = lines(EXPECTED "/sentences.txt");
  safetensors model(model_folder + "/model.safetensors");

  // Three sentences, padded to the longest.
  const auto ids = expected<std::int64_t>("input_ids");
  const auto kept = expected<std::int64_t>("attention_mask");
  const std::size_t batch_size = sentences.size(), n = ids.size() / batch_size;
  std::vector<std::int32_t> lengths(batch_size);
  for (std::size_t k = 0; k < kept.size(); ++k)
    lengths[k / n] += static_cast<std::int32_t>(kept[k]);

  qkv::tensor<f32, batch, seq, d_model> E({batch_size, n}), X({batch_size, n}), Y({batch_size, n});
  const auto type = model.row("embeddings.token_type_embeddings.weight", 0, features);
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const auto word =
        model.row("embeddings.word_embeddings.weight", static_cast<std::size_t>(ids[t]), features);
    const auto position = model.row("embeddings.position_embeddings.weight", t % n, features);
    for (std::size_t c = 0; c < features; ++c)
      E.data()[t * features + c] = word[c] + type[c] + position[c];
  }

  auto matrix = [&](const char *name) {
    return model.read(layer + name + ".weight", features * features);
  };
  auto vector = [&](const std::string &name) { return model.read(name, features); };
  auto Wq = matrix("self.query"), Wk = matrix("self.key"), Wv = matrix("self.value"),
       Wo = matrix("output.dense");
  auto bq = vector(layer + "self.query.bias"), bk = vector(layer + "self.key.bias"),
       bv = vector(layer + "self.value.bias"), bo = vector(layer + "output.dense.bias"),
       gamma = vector(layer + "output.LayerNorm.weight"),
       beta = vector(layer + "output.LayerNorm.bias"),
       gamma0 = vector("embeddings.LayerNorm.weight"), beta0 = vector("embeddings.LayerNorm.bias");

  using in_weight = qkv::tensor_view<f32, heads, d_k, d_model>;
  using head_bias = qkv::tensor_view<f32, heads, d_k>;
  using row = qkv::tensor_view<f32, d_model>;
  const qkv::tensor_view<f32, d_model, heads, d_k> out_weight(Wo.data());
  const qkv::tensor_view<i32, batch> length(lengths.data(), {batch_size});

  require(qkv::call<embedding_norm>(E, row(gamma0.data()), row(beta0.data()), X));
  const auto block = qkv::prepare<attention_block>(
      in_weight(Wq.data()), head_bias(bq.data()), in_weight(Wk.data()), head_bias(bk.data()),
      in_weight(Wv.data()), head_bias(bv.data()), out_weight, row(bo.data()), row(gamma.data()),
      row(beta.data()));
  require(block(X, length, Y));

  qkv::tensor<f32, batch, heads, seq, kv> W({batch_size, n, n});
  require(qkv::call<attention_weights>(X, length, in_weight(Wq.data()), head_bias(bq.data()),
                                       in_weight(Wk.data()), head_bias(bk.data()), W));

  std::printf("%zu sentences, %zu tokens each, padded; one layer of the real model\n", batch_size,
              n);
  bool right = report("embeddings, normalised", error_of(X, expected<float>("x"), lengths, n));
  right &= report("attention, projection, residual and norm",
                  error_of(Y, expected<float>("attended"), lengths, n));
  const auto weights = expected<float>("weights");
  double worst = 0;
  for (std::size_t b = 0; b < batch_size; ++b)
    for (std::size_t h = 0; h < 12; ++h)
      for (std::size_t k = 0; k < static_cast<std::size_t>(lengths[b]) * n; ++k) {
        const std::size_t at = (b * 12 + h) * n * n + k;
        worst = std::max(worst, std::abs(double(W.data()[at]) - weights[at]));
      }
  right &= report("attention weights", worst);

  // The picture: the second sentence, its weights averaged over the heads.
  const std::size_t shown = 1, kept_tokens = static_cast<std::size_t>(lengths[shown]);
  std::vector<std::string> tokens;
  std::vector<float> mean(kept_tokens * kept_tokens);
  for (std::size_t i = 0; i < kept_tokens; ++i) {
    tokens.push_back(vocabulary.at(static_cast<std::size_t>(ids[shown * n + i])));
    for (std::size_t j = 0; j < kept_tokens; ++j)
      for (int h = 0; h < 12; ++h) mean[i * kept_tokens + j] += W(shown, h, i, j) / 12;
  }
  std::filesystem::create_directories(out);
  const std::string picture = out + "/attention.svg";
  std::ofstream(picture) << qkv::attention_map_svg(
      mean, tokens, "all-MiniLM-L6-v2, first layer, mean of 12 heads");
  std::printf("picture of \"%s\": %s\n", sentences[shown].c_str(), picture.c_str());
  return right;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: minilm MODEL OUT\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2]) ? 0 : 1;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "minilm: %s\n", e.what());
    return 2;
  }
}
