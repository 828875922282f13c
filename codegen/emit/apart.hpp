// SPDX-License-Identifier: BSL-1.0
#pragma once
// Runs work in a child process, because Halide and LLVM end the process on code that they cannot
// compile.
#include <functional>
#include <string>

namespace qkv::codegen {

// Records progress (kernel, step, target); the message about a crash contains it.
void reached(const std::string &);

// Runs `work` in a child process and returns its exit status. Prints its stderr when it ends,
// without Halide's warnings. After a crash, prints one line with the last progress and the first
// line of stderr, and returns 1.
int apart(const std::function<int()> &work);

}  // namespace qkv::codegen
