// SPDX-License-Identifier: BSL-1.0
#pragma once
// The slips of a program as text.
#include <string>

#include "codegen/program/slips.hpp"
#include "tests/catch.hpp"

namespace qkv::testing::slips {

// Without the kernel's name, one a line.
inline std::string lines_of(const codegen::program &p) {
  std::string text;
  for (const codegen::slip &s : codegen::slips_of(p)) {
    CHECK(s.text.starts_with(p.name + ": "));
    text += (text.empty() ? "" : "\n") + s.text.substr(p.name.size() + 2);
  }
  return text;
}

// True for one line that has these words.
inline bool mentions(const std::string &lines, const std::string &words) {
  return lines.find(words) != std::string::npos && lines.find('\n') == std::string::npos;
}

}  // namespace qkv::testing::slips
