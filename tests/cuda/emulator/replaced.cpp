// SPDX-License-Identifier: BSL-1.0
#include "tests/cuda/emulator/replaced.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace qkv::ptx {
namespace {

std::string text_of(const std::string &path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

std::string text_in_place_of(const std::string &text) {
  const char *list = std::getenv("PTX_INSTEAD");
  std::istringstream pairs(list ? list : "");
  for (std::string pair; std::getline(pairs, pair, ',');) {
    const std::size_t middle = pair.find('=');
    if (middle == std::string::npos || text_of(pair.substr(0, middle)) != text) continue;
    const std::string other = pair.substr(middle + 1);
    std::fprintf(stderr, "%s runs in place of a module\n", other.c_str());
    return text_of(other);
  }
  return text;
}

}  // namespace qkv::ptx
