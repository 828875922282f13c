// SPDX-License-Identifier: BSL-1.0
#pragma once
// The line of a compiler's log that says why it failed.
#include <fstream>
#include <string>

namespace qkv::codegen {

// The first line with "error", else the first one.
inline std::string first_error(const std::string &log) {
  std::ifstream lines(log);
  std::string line, first;
  while (std::getline(lines, line)) {
    if (first.empty()) first = line;
    if (line.find("error") != std::string::npos) return line;
  }
  return first.empty() ? "it was not found, or it printed nothing" : first;
}

}  // namespace qkv::codegen
