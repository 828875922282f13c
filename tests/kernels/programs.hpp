#pragma once
// The programs of all kernels in this folder, traced once for every test that runs them.
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::testing {

const std::vector<codegen::program> &programs();  // with code for CPUs
const std::vector<codegen::program> &
programs_everywhere();                                    // those of them with code for GPUs, too
const std::vector<codegen::program> &programs_of_gpus();  // all with code for GPUs

}  // namespace qkv::testing
