// SPDX-License-Identifier: BSL-1.0
#pragma once
// The compiler of printed loops.
#include <string>
#include <vector>

#include "codegen/process/scratch.hpp"

namespace qkv::codegen {

// Writes FOLDER/NAME.o. `loops`: the texts of print_loops. Throws std::runtime_error with the first
// error of the compiler, or if there is no such compiler.
void compile_loops(const std::vector<std::string> &loops, const std::string &compiler,
                   const std::string &name, const scratch &folder);

}  // namespace qkv::codegen
