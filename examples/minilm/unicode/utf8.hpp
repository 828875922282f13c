// SPDX-License-Identifier: BSL-1.0
#pragma once
// UTF-8, one code point at a time.
#include <cstddef>
#include <string>
#include <string_view>

namespace minilm::unicode {

inline constexpr char32_t invalid = 0xFFFD;  // the replacement character

// Takes the first code point off a text that is not empty: `invalid`, and one byte, where the bytes
// make none.
constexpr char32_t take(std::string_view &text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  char32_t c = length == 1 ? first : first & (0x7Fu >> length);
  bool good = length > 0 && length <= text.size();
  for (std::size_t k = 1; good && k < length; ++k) {
    good = (byte(k) & 0xC0) == 0x80;
    c = c << 6 | (byte(k) & 0x3F);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  good = good && c >= least[length] && c < 0x110000 && (c < 0xD800 || c > 0xDFFF);
  text.remove_prefix(good ? length : 1);
  return good ? c : invalid;
}

constexpr void append(std::string &text, char32_t c) {
  const auto put = [&](char32_t bits) { text += static_cast<char>(bits); };
  const auto tail = [&](int shift) { put(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6), tail(0);
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12), tail(6), tail(0);
  } else {
    put(0xF0 | c >> 18), tail(12), tail(6), tail(0);
  }
}

}  // namespace minilm::unicode
