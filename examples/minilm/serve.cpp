// SPDX-License-Identifier: BSL-1.0
// The encoder for compare.py, which measures it beside others.
//
//   minilm_serve MODEL THREADS
//
// For each line "IDS OUT CALLS" of its input: encodes the tokens of IDS (.npy, i64, [sentence,
// token], 0 beyond the end of a sentence) CALLS times, writes the vectors to OUT (.npy) and prints
// the milliseconds of each call on a line.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <qkv/npy.hpp>
#include <qkv/threads.hpp>
#include <stdexcept>
#include <vector>

#include "encoder.hpp"

namespace {

using namespace minilm;

void require(const qkv::status &s) {
  if (!s) throw std::runtime_error(s.text());
}

padded read_tokens(const std::string &path) {
  qkv::npy_array array;
  require(qkv::read_npy(path, array));
  if (array.type != qkv::npy_type::i64 || array.shape.size() != 2)
    throw std::runtime_error(path + " is not a matrix of tokens");
  const auto *id = reinterpret_cast<const std::int64_t *>(array.data.data());
  std::vector<std::vector<std::int32_t>> sentences;
  for (std::int64_t s = 0; s < array.shape[0]; ++s, id += array.shape[1]) {
    const auto *end = std::find(id, id + array.shape[1], 0);
    sentences.emplace_back(id, end);
  }
  return pad(sentences);
}

// In milliseconds, of each of so many calls.
void print_latencies(const encoder &model, const padded &p, int calls) {
  using clock = std::chrono::steady_clock;
  std::vector<clock::time_point> at = {clock::now()};
  for (; calls > 0; --calls) {
    model.encode(p);
    at.push_back(clock::now());
  }
  for (std::size_t k = 1; k < at.size(); ++k)
    std::printf("%.4f ", std::chrono::duration<double, std::milli>(at[k] - at[k - 1]).count());
}

void serve(const encoder &model) {
  std::string ids, out;
  for (int calls = 0; std::cin >> ids >> out >> calls;) {
    const padded p = read_tokens(ids);
    print_latencies(model, p, calls);
    const auto vectors = model.encode(p);
    const std::int64_t shape[] = {vectors.extent(0), vectors.extent(1)};
    require(qkv::write_npy(out, qkv::npy_type::f32, shape, vectors.data()));
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  try {
    qkv::set_threads(std::atoi(argv[2]));
    safetensors file(std::string(argv[1]) + "/model.safetensors");
    serve(encoder(file));
    return 0;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "minilm_serve: %s\n", e.what());
    return 1;
  }
}
