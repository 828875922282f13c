// SPDX-License-Identifier: BSL-1.0
#pragma once
// Other programs: started with a list of arguments, which no shell reads.
#include <string>
#include <vector>

namespace qkv::codegen {

// Waits for a program, which is looked for in PATH; all that it prints goes to the file `log`.
// Returns false if the program is not found or fails.
bool run_program(const std::vector<std::string> &command, const std::string &log);

}  // namespace qkv::codegen
