// SPDX-License-Identifier: BSL-1.0
#pragma once
// PTX as characters, words, and numbers.
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/cuda/emulator/module.hpp"

namespace qkv::ptx {

inline bool starts_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}
inline bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

class lexer {
 public:
  explicit lexer(std::string_view text) : text_(text) {}

 protected:
  [[noreturn]] void fail(const std::string &what) const {
    const auto end = text_.find('\n', at_);
    throw error("PTX line " + std::to_string(line_) + ": " + what +
                " at: " + std::string(text_.substr(at_, std::min<std::size_t>(end - at_, 60))));
  }

  void skip() {
    for (;;) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
        line_ += text_[at_++] == '\n';
      if (text_.compare(at_, 2, "//") == 0)
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      else if (text_.compare(at_, 2, "/*") == 0) {
        const auto end = text_.find("*/", at_);
        for (; at_ < end + 2 && at_ < text_.size(); ++at_) line_ += text_[at_] == '\n';
      } else
        return;
    }
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!take(c)) fail(std::string("expected ") + c);
  }
  // A name, with dots when these belong to it (.shared::cta, %tid.x).
  std::string word(bool dots = false) {
    skip();
    const auto from = at_;
    if (at_ < text_.size() && text_[at_] == '.' && dots) ++at_;
    while (at_ < text_.size() &&
           (in_name(text_[at_]) || (text_[at_] == ':' && text_.compare(at_, 2, "::") == 0) ||
            (dots && text_[at_] == '.')))
      at_ += text_[at_] == ':' ? 2 : 1;
    return std::string(text_.substr(from, at_ - from));
  }
  std::string directive() {
    need('.');
    return word();
  }
  std::int64_t integer() {
    const operand o = number();
    return static_cast<std::int64_t>(o.bits);
  }
  operand number() {
    skip();
    operand o;
    o.kind = operand::number;
    const bool minus = take('-');
    if (!minus) take('+');
    skip();
    const auto is = [&](char a, char b) {
      return text_[at_] == '0' && at_ + 1 < text_.size() &&
             (text_[at_ + 1] == a || text_[at_ + 1] == b);
    };
    std::uint64_t v = 0;
    if (is('f', 'F') || is('d', 'D')) {
      const bool wide = is('d', 'D');
      const int digits = wide ? 16 : 8;
      std::from_chars(text_.data() + at_ + 2, text_.data() + at_ + 2 + digits, v, 16);
      at_ += 2 + digits;
      (wide ? o.is_double : o.is_float) = true;
    } else if (is('x', 'X')) {
      auto r = std::from_chars(text_.data() + at_ + 2, text_.data() + text_.size(), v, 16);
      at_ = static_cast<std::size_t>(r.ptr - text_.data());
    } else {
      const auto from = at_;
      auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v, 10);
      if (r.ec != std::errc{}) fail("expected a number");
      at_ = static_cast<std::size_t>(r.ptr - text_.data());
      if (at_ < text_.size() && text_[at_] == '.') {
        double d = 0;
        auto rd = std::from_chars(text_.data() + from, text_.data() + text_.size(), d);
        at_ = static_cast<std::size_t>(rd.ptr - text_.data());
        v = std::bit_cast<std::uint64_t>(d);
        o.is_double = true;
      }
    }
    if (at_ < text_.size() && (text_[at_] == 'U' || text_[at_] == 'u')) ++at_;
    o.bits = !minus ? v : o.is_double ? v ^ (1ull << 63) : o.is_float ? v ^ 0x80000000u : ~v + 1;
    return o;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace qkv::ptx
