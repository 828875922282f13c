// SPDX-License-Identifier: BSL-1.0
#pragma once
// A part of a kernel as a program of its own, and where its arguments and results are.
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// A tensor that a part reads or writes: an argument or a result of the kernel, in the order of the
// signature, or after these a temporary.
struct part_argument {
  int value = 0;
  // Of a value at the bounds between chunks. A chunk: the bound after it, else that before it.
  // Other parts: the last bound, else the first.
  bool is_later = false;
};

struct kernel_part {
  program p;                             // NAME__before, __states, __between, __chunk, __after
  std::vector<part_argument> arguments;  // arguments, then results
  bool is_of_chunk = false;              // called for each chunk and each position of outer axes
};

}  // namespace qkv::codegen
