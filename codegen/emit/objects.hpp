// SPDX-License-Identifier: BSL-1.0
#pragma once
// Compiled code: one archive per kernel with an object for each machine.
#include <string>
#include <vector>

#include "codegen/halide/pipeline.hpp"
#include "codegen/machines/machines.hpp"
#include "codegen/plan/plan.hpp"
#include "codegen/process/scratch.hpp"

namespace qkv::codegen {

struct object_options {
  bool stmt = false;          // DIR/STEM.<machine>.stmt: the lowered loops
  bool assembly = false;      // DIR/STEM.<machine>.s, .ptx for CUDA; .cu of printed kernels
  std::string cuda_compiler;  // nvcc or clang; empty: no kernel is printed
  plain_choice plain = {};    // stages that loops of C++ compute on CPUs
  std::string compiler;       // of these
};

// Writes DIR/STEM.a, its objects into the temporary folder first. Returns a line for each printed
// kernel, "cuda: O by wgmma 128 x 128 on sm_90a, ..", and each stage for which loops are wanted,
// "x86-64-v3: O by loops". Throws Halide::Error or std::runtime_error.
std::string write_objects(const plan &, const std::vector<machine> &, const std::string &dir,
                          const std::string &stem, const object_options &, const scratch &);

// The C name of the compiled code of a kernel for a machine; NAME_argv takes an array of arguments.
std::string symbol_of(const program &, const machine &);

}  // namespace qkv::codegen
