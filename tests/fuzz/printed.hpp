// SPDX-License-Identifier: BSL-1.0
#pragma once
// Specs that were printed and compiled, with the fingerprint of the program that each came from.
#include <cstdint>
#include <vector>

#include "codegen/program/program.hpp"

struct printed {
  std::uint64_t fingerprint;
  qkv::codegen::program compiled;
};

std::vector<printed> all_printed();
