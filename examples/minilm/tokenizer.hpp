// SPDX-License-Identifier: BSL-1.0
#pragma once
// WordPiece: a sentence as the numbers of its pieces in the model's vocabulary.
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace minilm {

class tokenizer {
 public:
  // The pieces in the order of their numbers; one that goes on a word begins with ##. Throws
  // std::runtime_error when [UNK], [CLS] or [SEP] is missing.
  explicit tokenizer(std::vector<std::string> pieces);
  tokenizer(const tokenizer &) = delete;  // the maps below point into pieces_
  tokenizer &operator=(const tokenizer &) = delete;

  // [CLS], the pieces of the text, [SEP]: at most `most` together, what is beyond is cut off.
  // [MASK] and its like in the text keep their meaning.
  std::vector<std::int32_t> encode(std::string_view text, std::size_t most = 256) const;

  const std::string &piece(std::int32_t number) const {
    return pieces_.at(static_cast<std::size_t>(number));
  }

 private:
  using numbers = std::vector<std::int32_t>;
  std::int32_t special(const char *piece) const;
  void add_words(numbers &, std::string_view text) const;
  void add_pieces(numbers &, std::string_view word) const;

  std::vector<std::string> pieces_;
  std::unordered_map<std::string_view, std::int32_t> whole_, going_on_;  // without their ##
  std::size_t longest_ = 0;                                              // piece, in bytes
  std::int32_t unknown_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace minilm
