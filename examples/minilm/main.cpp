// SPDX-License-Identifier: BSL-1.0
// Sentences through all-MiniLM-L6-v2: their tokens, their similarities, the time, a picture of the
// attention.
//
//   minilm MODEL OUT [SENTENCE...]
//   MODEL: folder of model.safetensors and vocab.txt; OUT: folder of the picture
//
// First the results for the sentences of expected/ are compared with the original's; when they
// differ, it exits with 1.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "check.hpp"
#include "examples/stopwatch.hpp"
#include "picture.hpp"
#include "vectors.hpp"

namespace {

using namespace minilm;
using token_lists = std::vector<std::vector<std::int32_t>>;

std::vector<std::string> names_of(const tokenizer &pieces, const std::vector<std::int32_t> &ids) {
  std::vector<std::string> names;
  for (const std::int32_t id : ids) names.push_back(pieces.piece(id));
  return names;
}

void print_tokens(const tokenizer &pieces, const token_lists &sentences) {
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    std::printf("  %zu ", s + 1);
    for (const std::string &name : names_of(pieces, sentences[s])) std::printf(" %s", name.c_str());
    std::printf("\n");
  }
}

void print_similarities(const encoder &model, const token_lists &sentences) {
  const auto vectors = model.encode(pad(sentences));
  for (std::size_t a = 0; a < sentences.size(); ++a) {
    std::printf("  %zu ", a + 1);
    for (std::size_t b = 0; b < sentences.size(); ++b)
      std::printf(" %6.3f", cosine(row(vectors, a, 384), row(vectors, b, 384)));
    std::printf("\n");
  }
}

void print_latency(const encoder &model, const token_lists &sentences, std::size_t batch_size) {
  token_lists many;
  while (many.size() < batch_size) many.push_back(sentences[many.size() % sentences.size()]);
  const padded p = pad(many);
  const double ms = 1e3 * examples::seconds([&] { model.encode(p); });
  std::printf("  batch %-2zu of %zu tokens: %.1f ms, %.0f sentences/s\n", batch_size, p.width, ms,
              static_cast<double>(batch_size) / ms * 1e3);
}

void draw(const std::string &path, const tokenizer &pieces, const encoder &model,
          const std::vector<std::int32_t> &ids) {
  std::ofstream file(path);
  file << attention_picture(model, ids, names_of(pieces, ids));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
  std::printf("%s\n", path.c_str());
}

bool run(const std::string &folder, const std::string &out, std::vector<std::string> sentences) {
  const tokenizer pieces(read_lines(folder + "/vocab.txt"));
  safetensors file(folder + "/model.safetensors");
  const encoder model(file);
  const original want = read_original(EXPECTED);
  std::printf("against the original\n");
  if (!equals_original(pieces, model, want)) return false;

  if (sentences.empty()) sentences = want.sentences;
  token_lists ids;
  for (const std::string &s : sentences) ids.push_back(pieces.encode(s));
  std::printf("tokens\n");
  print_tokens(pieces, ids);
  std::printf("similarity\n");
  print_similarities(model, ids);
  std::printf("latency, %d threads\n", qkv::threads());
  print_latency(model, {ids.front()}, 1);
  print_latency(model, ids, 32);
  std::printf("picture of sentence %zu: ", ids.size() > 1 ? std::size_t{2} : std::size_t{1});
  std::filesystem::create_directories(out);
  draw(out + "/attention.svg", pieces, model, ids[ids.size() > 1]);
  return true;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: minilm MODEL OUT [SENTENCE...]\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2], {argv + 3, argv + argc}) ? 0 : 1;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "minilm: %s\n", e.what());
    return 2;
  }
}
