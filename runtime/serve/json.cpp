// SPDX-License-Identifier: BSL-1.0
#include "serve/json.hpp"

#include <charconv>
#include <cstdint>

namespace qkv::serving {
namespace {

struct reader {
  std::string_view rest;

  bool take(char c) {
    while (!rest.empty() &&
           (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\n'))
      rest.remove_prefix(1);
    if (rest.empty() || rest[0] != c) return false;
    rest.remove_prefix(1);
    return true;
  }
  // Characters beyond ASCII may be written as \uXXXX (json.dumps does).
  bool escape(std::string &s) {
    if (rest.empty()) return false;
    const char c = rest[0];
    rest.remove_prefix(1);
    constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    if (const std::size_t at = from.find(c); at != std::string_view::npos) {
      s += to[at];
      return true;
    }
    std::uint32_t u = 0;
    if (c != 'u' || rest.size() < 4 ||
        std::from_chars(rest.data(), rest.data() + 4, u, 16).ptr != rest.data() + 4)
      return false;
    rest.remove_prefix(4);
    if (u < 0x80) {
      s += static_cast<char>(u);
    } else if (u < 0x800) {
      s += static_cast<char>(0xc0 | u >> 6);
      s += static_cast<char>(0x80 | (u & 0x3f));
    } else {
      s += static_cast<char>(0xe0 | u >> 12);
      s += static_cast<char>(0x80 | (u >> 6 & 0x3f));
      s += static_cast<char>(0x80 | (u & 0x3f));
    }
    return true;
  }
  bool quoted(std::string &s) {
    if (!take('"')) return false;
    while (!rest.empty() && rest[0] != '"') {
      const char c = rest[0];
      rest.remove_prefix(1);
      if (c != '\\') {
        s += c;
      } else if (!escape(s)) {
        return false;
      }
    }
    return take('"');
  }
  bool number(double &x) {
    take('\0');  // skips blanks
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), x);
    if (error != std::errc{}) return false;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return true;
  }
};

}  // namespace

bool flat_object::read(std::string_view text) {
  reader r{text};
  if (!r.take('{')) return false;
  if (!r.take('}')) {
    do {
      std::string name, value;
      double x = 0;
      if (!r.quoted(name) || !r.take(':')) return false;
      if (r.quoted(value)) {
        texts_[name] = value;
      } else if (r.number(x)) {
        numbers_[name] = x;
      } else {
        return false;
      }
    } while (r.take(','));
    if (!r.take('}')) return false;
  }
  r.take('\0');
  return r.rest.empty();
}

std::string flat_object::text(std::string_view name) const {
  const auto found = texts_.find(name);
  return found == texts_.end() ? "" : found->second;
}

double flat_object::number(std::string_view name, double otherwise) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? otherwise : found->second;
}

}  // namespace qkv::serving
