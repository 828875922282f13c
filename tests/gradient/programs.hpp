// SPDX-License-Identifier: BSL-1.0
#pragma once
// The programs of all kernels in the headers of tests/kernels, traced once.
#include <vector>

#include "codegen/gradient/gradient.hpp"
#include "codegen/program/program.hpp"

namespace qkv::testing {

const std::vector<codegen::program> &all_programs();

// Those that have a gradient, and those that have none: without an argument of floating type, or
// with a scan.
std::vector<codegen::program> differentiable_programs();
std::vector<codegen::program> refused_programs();

}  // namespace qkv::testing
