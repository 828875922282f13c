// SPDX-License-Identifier: BSL-1.0
#pragma once
// A step that is likely not what its author meant.
#include <string>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

struct slip {
  node_id at;
  std::string text;  // what is wrong, and the likely fix
};

}  // namespace qkv::codegen
