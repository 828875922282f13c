// SPDX-License-Identifier: BSL-1.0
#pragma once
// Sentences of different length as one matrix: tokens of the longest, the others filled up with
// [PAD].
#include <algorithm>
#include <cstdint>
#include <vector>

namespace minilm {

struct padded {
  std::size_t width = 0;              // tokens of the longest sentence
  std::vector<std::int32_t> ids;      // [sentence, width]
  std::vector<std::int32_t> lengths;  // tokens of each sentence
  std::size_t sentences() const { return lengths.size(); }
};

inline padded pad(const std::vector<std::vector<std::int32_t>> &sentences) {
  padded all;
  for (const auto &ids : sentences) all.width = std::max(all.width, ids.size());
  for (const auto &ids : sentences) {
    all.lengths.push_back(static_cast<std::int32_t>(ids.size()));
    all.ids.insert(all.ids.end(), ids.begin(), ids.end());
    all.ids.resize(all.lengths.size() * all.width);
  }
  return all;
}

}  // namespace minilm
