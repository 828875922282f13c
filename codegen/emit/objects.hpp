// SPDX-License-Identifier: BSL-1.0
#pragma once
// Compiled code: one archive per kernel with an object for each machine.
#include <string>
#include <vector>

#include "codegen/plan/on_machine/machine_plan.hpp"
#include "codegen/process/scratch.hpp"

namespace qkv::codegen {

struct object_options {
  bool stmt = false;          // DIR/STEM.<machine>.stmt: the lowered loops
  bool assembly = false;      // DIR/STEM.<machine>.s, .ptx for CUDA; .cu of printed kernels
  std::string cuda_compiler;  // of printed kernels: nvcc or clang
  std::string compiler;       // of loops of C++
};

// Writes DIR/STEM.a with the kernel's code for each machine, its objects into the temporary folder
// first. Returns a line for each printed kernel, "cuda: O by wgmma 128 x 128 on sm_90a, ..", and
// each stage for which loops are wanted, "x86-64-v3: O by loops". Throws Halide::Error or
// std::runtime_error.
std::string write_objects(const std::vector<machine_plan> &, const std::string &dir,
                          const std::string &stem, const object_options &, const scratch &);

// All that is compiled of a kernel for a machine: its parts that compute something, or itself.
std::vector<const machine_plan *> compiled_in(const machine_plan &);

// The C name of the compiled code of a kernel for a machine; NAME_argv takes an array of arguments.
std::string symbol_of(const program &, const machine &);

}  // namespace qkv::codegen
