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
// std::runtime_error with the first error of the compiler, if there is no such compiler, or if it
// compiles for another machine.
std::string compile_loops(const std::vector<std::string> &loops, const loops_compiler &,
                          const std::string &name, const scratch &folder);

}  // namespace qkv::codegen
