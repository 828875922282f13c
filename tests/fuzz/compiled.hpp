#pragma once
// A program compiled as qkv_add_kernels would, and loaded into this process.
#include <string>

#include "codegen/program/program.hpp"

struct qkv_kernel;

namespace qkv::fuzz {

// What kernels are compiled for here: the best instruction set of this machine, or the one below it.
std::string host_targets(bool best);

// Writes objects and tables for these targets into `folder`, links and loads them. Throws what the generator throws, and
// std::runtime_error when the compiler or the linker fails. A library stays loaded: meant for child processes.
const qkv_kernel &compiled(const codegen::program &, const std::string &targets,
                           const std::string &folder);

}  // namespace qkv::fuzz
