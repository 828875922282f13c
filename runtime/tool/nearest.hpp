// SPDX-License-Identifier: BSL-1.0
#pragma once
// The word that somebody most likely meant.
#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

namespace qkv::tool {

// Insertions, deletions and exchanges of one letter that make b of a (Levenshtein 1966).
inline std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t exchanged = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, exchanged});
    }
  }
  return row.back();
}

// Empty where none of them is near: more than a third of the letters differ.
inline std::string_view nearest(std::string_view word, const std::vector<std::string_view> &known) {
  std::string_view best;
  std::size_t least = (word.size() + 2) / 3;
  for (const std::string_view k : known)
    if (const std::size_t d = distance(word, k); d <= least && (best.empty() || d < least))
      best = k, least = d;
  return best;
}

}  // namespace qkv::tool
