// SPDX-License-Identifier: BSL-1.0
#pragma once
// A program compiled as qkv_add_kernels would, and loaded into this process.
#include <string>

#include "codegen/program/program.hpp"

struct qkv_kernel;

namespace qkv::fuzz {

// The targets of compiled kernels: this machine's best instruction set, or the one below it.
std::string host_targets(bool best);

// Writes objects and tables for these targets into `folder`, links and loads them. Throws what the
// generator throws, and std::runtime_error if the compiler or the linker fails. A library stays
// loaded, so call this in child processes.
const qkv_kernel &compiled(const codegen::program &, const std::string &targets,
                           const std::string &folder);

}  // namespace qkv::fuzz
