// SPDX-License-Identifier: BSL-1.0
#pragma once
// The original's results for the sentences of a folder like expected/, in the layout of NumPy.
#include <cstdint>
#include <string>
#include <vector>

namespace minilm {

struct original {
  std::vector<std::string> sentences;
  std::vector<std::int32_t> ids;  // [sentence, token], 0 beyond the end of a sentence
  std::vector<float> attention;   // [sentence, head, token, token], of the first layer
  std::vector<float> embedding;   // [sentence, 384]
};

// Throws std::runtime_error when a file is missing or of another kind.
original read_original(const std::string &folder);

// The lines of a text file. Throws std::runtime_error when there are none.
std::vector<std::string> read_lines(const std::string &path);

}  // namespace minilm
