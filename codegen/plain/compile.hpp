// SPDX-License-Identifier: BSL-1.0
#pragma once
// The compiler of printed loops.
#include <Halide.h>

#include <string>
#include <vector>

#include "codegen/process/scratch.hpp"

namespace qkv::codegen {

struct loops_compiler {
  std::string program;
  Halide::Target target;  // that the program must compile for
  std::string keep;       // a file for the text; empty: it goes with the folder
};

// Writes an object into the folder and returns its path. `loops`: the texts of print_loops. Throws
// std::runtime_error if the compiler is not found, compiles for another machine, or fails: with its
// first error.
std::string compile_loops(const std::vector<std::string> &loops, const loops_compiler &,
                          const std::string &name, const scratch &folder);

}  // namespace qkv::codegen
