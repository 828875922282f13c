// SPDX-License-Identifier: BSL-1.0
#include "characters.hpp"

#include <algorithm>
#include <iterator>

#include "table.hpp"
#include "utf8.hpp"

namespace minilm::unicode {
namespace {

bool within(const auto &ranges, char32_t c) {
  const auto *after = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                                       [](char32_t x, const range &r) { return x < r.first; });
  return after != std::begin(ranges) && c <= after[-1].last;
}

// A Hangul syllable is its letters: Unicode, section 3.12.
void append_hangul(std::string &text, char32_t syllable) {
  append(text, 0x1100 + syllable / (21 * 28));
  append(text, 0x1161 + syllable / 28 % 21);
  if (syllable % 28) append(text, 0x11A7 + syllable % 28);
}

}  // namespace

kind kind_of(char32_t c) {
  if (within(nothing, c) || c == 0) return kind::nothing;
  if (within(space, c)) return kind::space;
  return within(alone, c) ? kind::alone : kind::letter;
}

void append_folded(std::string &text, char32_t c) {
  if (c >= 0xAC00 && c <= 0xD7A3) return append_hangul(text, c - 0xAC00);
  for (const long_fold &f : long_folds) {
    if (f.from != c) continue;
    for (const char32_t *p = f.folded; *p; ++p) append(text, *p);
    return;
  }
  const char32_t row = c / row_length * row_length;
  const auto *at = std::lower_bound(std::begin(fold_rows), std::end(fold_rows), row,
                                    [](const fold_row &r, char32_t x) { return r.first < x; });
  const bool folded = at != std::end(fold_rows) && at->first == row && at->folded[c - row] != U' ';
  append(text, folded ? at->folded[c - row] : c);
}

}  // namespace minilm::unicode
