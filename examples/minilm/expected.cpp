// SPDX-License-Identifier: BSL-1.0
#include "expected.hpp"

#include <fstream>
#include <qkv/npy.hpp>
#include <stdexcept>

namespace minilm {
namespace {

template <class Number>
std::vector<Number> read(const std::string &path, qkv::npy_type type) {
  qkv::npy_array array;
  if (const qkv::status s = qkv::read_npy(path, array); !s) throw std::runtime_error(s.text());
  if (array.type != type) throw std::runtime_error(path + " holds numbers of another type");
  const auto *first = reinterpret_cast<const Number *>(array.data.data());
  return {first, first + array.elements()};
}

}  // namespace

std::vector<std::string> read_lines(const std::string &path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (lines.empty()) throw std::runtime_error("cannot read " + path);
  return lines;
}

original read_original(const std::string &folder) {
  const auto ids = read<std::int64_t>(folder + "/input_ids.npy", qkv::npy_type::i64);
  return {read_lines(folder + "/sentences.txt"),
          {ids.begin(), ids.end()},
          read<float>(folder + "/weights.npy", qkv::npy_type::f32),
          read<float>(folder + "/embedding.npy", qkv::npy_type::f32)};
}

}  // namespace minilm
