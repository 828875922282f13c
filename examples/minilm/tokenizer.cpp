// SPDX-License-Identifier: BSL-1.0
#include "tokenizer.hpp"

#include <algorithm>
#include <stdexcept>

#include "words.hpp"

namespace minilm {
namespace {

constexpr std::size_t longest_word = 100;  // characters; a longer word is unknown
constexpr std::string_view specials[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

}  // namespace

tokenizer::tokenizer(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {
  for (std::size_t k = 0; k < pieces_.size(); ++k) {
    std::string_view piece = pieces_[k];
    const bool goes_on = piece.size() > 2 && piece.starts_with("##");
    if (goes_on) piece.remove_prefix(2);
    (goes_on ? going_on_ : whole_)[piece] = static_cast<std::int32_t>(k);
    longest_ = std::max(longest_, piece.size());
  }
  unknown_ = special("[UNK]"), begin_ = special("[CLS]"), end_ = special("[SEP]");
}

std::int32_t tokenizer::special(const char *piece) const {
  const auto found = whole_.find(piece);
  if (found == whole_.end())
    throw std::runtime_error(std::string("the vocabulary has no ") + piece);
  return found->second;
}

std::vector<std::int32_t> tokenizer::encode(std::string_view text, std::size_t most) const {
  numbers tokens{begin_};
  std::size_t done = 0;
  for (std::size_t at = text.find('['); at != text.npos; at = text.find('[', at + 1)) {
    for (const std::string_view name : specials) {
      const auto known = whole_.find(name);
      if (known == whole_.end() || !text.substr(at).starts_with(name)) continue;
      add_words(tokens, text.substr(done, at - done));
      tokens.push_back(known->second);
      done = at + name.size();
    }
  }
  add_words(tokens, text.substr(done));
  tokens.resize(std::min(tokens.size(), std::max<std::size_t>(most, 2) - 1));
  tokens.push_back(end_);
  return tokens;
}

void tokenizer::add_words(numbers &tokens, std::string_view text) const {
  for (const std::string &word : words_of(text)) add_pieces(tokens, word);
}

// Takes the longest piece that fits off the front, again and again; a word with a rest that none
// fits is unknown.
void tokenizer::add_pieces(numbers &tokens, std::string_view word) const {
  const std::size_t before = tokens.size();
  const auto unknown = [&] { tokens.resize(before), tokens.push_back(unknown_); };
  if (std::ranges::count_if(word, begins_character) > std::ptrdiff_t{longest_word})
    return unknown();
  for (std::size_t at = 0; at < word.size();) {
    const auto &known = at ? going_on_ : whole_;
    std::size_t length = std::min(longest_, word.size() - at);
    auto found = known.end();
    for (; length > 0; --length) {
      found = known.find(word.substr(at, length));
      if (found != known.end()) break;
    }
    if (length == 0) return unknown();
    tokens.push_back(found->second);
    at += length;
  }
}

}  // namespace minilm
