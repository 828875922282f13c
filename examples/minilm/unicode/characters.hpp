// SPDX-License-Identifier: BSL-1.0
#pragma once
// The treatment of each character when a text is split into words of lower-case letters without
// accents.
// Covers all of Unicode as the original does (package tokenizers 0.23: see table.py). Characters
// are taken one by one: the canonical order of marks that are not left out (a handful of scripts)
// is not restored.
#include <string>

namespace minilm::unicode {

enum class kind : unsigned char {
  letter,   // part of a word; symbols and digits too
  space,    // between words
  alone,    // a word by itself: punctuation, Chinese characters
  nothing,  // left out: control characters, marks on letters
};

kind kind_of(char32_t);

// Appends a letter, or one that stands alone, in lower case and without its marks.
void append_folded(std::string &text, char32_t);

}  // namespace minilm::unicode
