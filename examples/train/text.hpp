// SPDX-License-Identifier: BSL-1.0
#pragma once
// A text as numbers, one for each character, and batches of it.
#include <cstdint>
#include <string>
#include <vector>

#include "random.hpp"

namespace my {

// Rows of characters, and for each character the next one.
struct batch_of_text {
  std::int64_t rows = 0, width = 0;
  std::vector<std::int32_t> tokens, next;
};

class text {
 public:
  // Errors: std::runtime_error if the file cannot be read, is shorter than 2000 characters or has
  // more different characters than the model's vocabulary.
  explicit text(const std::string &path);

  std::vector<std::int32_t> encode(const std::string &) const;  // unknown characters are left out
  std::string decode(const std::vector<std::int32_t> &) const;

  std::size_t characters() const { return ids_.size(); }
  std::size_t different() const { return alphabet_.size(); }

  // Rows that begin anywhere in the first nine tenths of the text.
  batch_of_text draw(random_numbers &, std::int64_t rows, std::int64_t width) const;
  // The last tenth, row after row.
  batch_of_text held_back(std::int64_t width) const;

 private:
  std::size_t split() const { return ids_.size() / 10 * 9; }
  void add_row(batch_of_text &, std::size_t begin) const;

  std::string alphabet_;  // sorted
  std::vector<std::int32_t> ids_;
};

}  // namespace my
