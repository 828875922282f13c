// SPDX-License-Identifier: BSL-1.0
// Ten pairs of sentences tune the encoder's last layer: which pairs say the same, and which only
// sound alike.
//
//   minilm_tune MODEL [EXPORT]    MODEL: folder of model.safetensors and vocab.txt;
//                                 EXPORT: a folder for the tokens, which tune_torch.py reads
//
// First the gradients and losses are compared with those of PyTorch (expected/tuning.txt); when
// they differ, it exits with 1.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <qkv/npy.hpp>
#include <sstream>
#include <stdexcept>

#include "expected.hpp"
#include "tokenizer.hpp"
#include "tuner.hpp"

namespace {

using namespace minilm;

constexpr int steps = 20;
constexpr double rate = 5e-5;

struct pairs {
  std::vector<float> targets;
  std::vector<std::string> sentences;  // two a pair
};

pairs read_pairs(const std::string &path) {
  pairs all;
  for (const std::string &line : read_lines(path)) {
    std::istringstream fields(line);
    std::string target, first, second;
    std::getline(fields, target, '\t'), std::getline(fields, first, '\t');
    if (!std::getline(fields, second)) throw std::runtime_error(path + ": not a pair: " + line);
    all.targets.push_back(std::stof(target));
    all.sentences.push_back(first), all.sentences.push_back(second);
  }
  return all;
}

void export_tokens(const std::string &folder, const padded &p, const std::vector<float> &targets) {
  std::filesystem::create_directories(folder);
  const auto write = [&](const char *name, qkv::npy_type type, std::vector<std::int64_t> shape,
                         const void *data) {
    const auto s = qkv::write_npy(folder + "/" + name + ".npy", type, shape, data);
    if (!s) throw std::runtime_error(s.text());
  };
  const auto sentences = static_cast<std::int64_t>(p.sentences());
  write("ids", qkv::npy_type::i32, {sentences, static_cast<std::int64_t>(p.width)}, p.ids.data());
  write("targets", qkv::npy_type::f32, {sentences / 2}, targets.data());
}

// The numbers of PyTorch: "loss" and all losses; the name of each weight, the norm of its gradient
// and the gradient along the direction cos(0), cos(1), ..
using original_numbers = std::map<std::string, std::vector<double>>;

original_numbers read_original_numbers(const std::string &path) {
  original_numbers all;
  for (const std::string &line : read_lines(path)) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    for (double x; words >> x;) all[name].push_back(x);
  }
  return all;
}

// The larger difference; NaN is the largest.
double larger(double a, double b) { return std::isnan(b) || b > a ? b : a; }

// The largest difference, relative to the norm, or to a thousandth of the largest norm: the
// gradient of a key's bias is 0 but for rounding, because it adds the same to all scores of a
// query.
double difference_of(const layer_weights &gradient, const original_numbers &want) {
  double largest = 0, worst = 0;
  for (const char *name : weight_names) largest = std::max(largest, want.at(name).at(0));
  std::size_t t = 0;
  for (const std::span<const float> g : numbers_of(gradient)) {
    double square = 0, along = 0;
    for (std::size_t k = 0; k < g.size(); ++k) {
      square += static_cast<double>(g[k]) * g[k];
      along += static_cast<double>(g[k]) * std::cos(static_cast<double>(k));
    }
    const std::vector<double> &numbers = want.at(weight_names[t++]);
    const double norm = std::max(numbers.at(0), 1e-3 * largest);
    // The direction is as long as the root of half the number of elements.
    const double length = norm * std::sqrt(static_cast<double>(g.size()) / 2);
    worst = larger(worst, std::abs(std::sqrt(square) - numbers.at(0)) / norm);
    worst = larger(worst, std::abs(along - numbers.at(1)) / length);
  }
  return worst;
}

bool verdict(const char *what, double difference, double most) {
  const bool right = difference < most;
  std::printf("  %s differ by %.1e: %s\n", what, difference, right ? "right" : "WRONG");
  return right;
}

bool run(const std::string &folder, const char *exported) {
  const pairs all = read_pairs(PAIRS);
  const tokenizer pieces(read_lines(folder + "/vocab.txt"));
  std::vector<std::vector<std::int32_t>> ids;
  for (const std::string &s : all.sentences) ids.push_back(pieces.encode(s));
  const padded p = pad(ids);
  if (exported) return export_tokens(exported, p, all.targets), true;

  safetensors file(folder + "/model.safetensors");
  tuner last(read_layer(file, layers - 1), encoder(file).before_last(p), p.lengths, all.targets);
  const original_numbers want = read_original_numbers(EXPECTED "/tuning.txt");
  std::printf("against PyTorch\n");
  bool right = verdict("gradients", difference_of(last.gradient(), want), 1e-4);
  std::vector<double> losses = {last.loss()};
  const std::vector<float> before(last.similarities().begin(), last.similarities().end());
  for (int k = 0; k < steps; ++k) {
    last.step(rate);
    losses.push_back(last.loss());
  }
  double worst = 0;
  for (std::size_t k = 0; k < losses.size(); ++k)
    worst = larger(worst, std::abs(losses[k] - want.at("loss").at(k)));
  right &= verdict("losses", worst, 1e-4);

  std::printf("loss by step\n ");
  for (std::size_t k = 0; k < losses.size(); k += 4) std::printf(" %.4f", losses[k]);
  std::printf("\nsimilarity before and after\n");
  for (std::size_t k = 0; k < before.size(); ++k)
    std::printf("  %.3f  %.3f  (%.0f)  %s | %s\n", before[k], last.similarities()[k],
                all.targets[k], all.sentences[2 * k].c_str(), all.sentences[2 * k + 1].c_str());
  return right;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: minilm_tune MODEL [EXPORT]\n");
    return 2;
  }
  try {
    return run(argv[1], argc == 3 ? argv[2] : nullptr) ? 0 : 1;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "minilm_tune: %s\n", e.what());
    return 2;
  }
}
