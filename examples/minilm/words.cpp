// SPDX-License-Identifier: BSL-1.0
#include "words.hpp"

#include "unicode/characters.hpp"
#include "unicode/utf8.hpp"

namespace minilm {

std::vector<std::string> words_of(std::string_view text) {
  using unicode::kind;
  std::vector<std::string> words;
  bool begins = true;  // whether the next letter begins a word
  while (!text.empty()) {
    const char32_t c = unicode::take(text);
    const kind what = unicode::kind_of(c);
    if (what == kind::nothing) continue;
    if (what != kind::space) {
      if (begins || what == kind::alone) words.emplace_back();
      unicode::append_folded(words.back(), c);
    }
    begins = what != kind::letter;
  }
  return words;
}

}  // namespace minilm
