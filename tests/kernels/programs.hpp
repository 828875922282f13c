#pragma once
// The programs of all kernels in this folder, traced once for every test that runs them.
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::testing {

const std::vector<codegen::program> &programs();             // all: every kernel has code for CPUs
const std::vector<codegen::program> &programs_everywhere();  // those with code for GPUs, too

}  // namespace qkv::testing
