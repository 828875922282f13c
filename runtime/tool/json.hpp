// SPDX-License-Identifier: BSL-1.0
#pragma once
// JSON as the tool prints it: one object a line.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::tool::json {

inline std::string text(std::string_view s) {
  std::string r = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\')
      r += '\\', r += c;
    else if (c == '\n')
      r += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20)
      r += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      r += c;
  }
  return r + '"';
}

// JSON has neither infinities nor NaN: null stands for both.
inline std::string number(double x) { return std::isfinite(x) ? fmt::format("{}", x) : "null"; }

template <class List, class F>
std::string list(const List &all, F element) {
  std::string r;
  for (const auto &x : all) r += (r.empty() ? "" : ", ") + element(x);
  return "[" + r + "]";
}

// Members in their order; values are JSON already.
class object {
 public:
  object &add(std::string_view name, const std::string &value) {
    text_ += (text_.empty() ? "" : ", ") + json::text(name) + ": " + value;
    return *this;
  }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

inline std::string sizes(const std::map<std::string, std::int64_t, std::less<>> &all) {
  object o;
  for (const auto &[name, n] : all) o.add(name, std::to_string(n));
  return o.text();
}

}  // namespace qkv::tool::json
