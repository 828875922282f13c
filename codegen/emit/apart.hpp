#pragma once
// Work in a process of its own: Halide and LLVM end the process where they meet what they cannot compile.
#include <functional>
#include <string>

namespace qkv::codegen {

// What the work has reached, for the text of a crash: the kernel, the step, the target.
void reached(const std::string &);

// Returns the exit status of `work`. Its warnings are left out; what else it writes to stderr comes at its end. Where it
// crashes: one line with what it had reached and the first line of what it wrote, and 1.
int apart(const std::function<int()> &work);

}  // namespace qkv::codegen
