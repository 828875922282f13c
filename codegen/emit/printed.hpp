// SPDX-License-Identifier: BSL-1.0
#pragma once
// Printed kernels in a compiled module: their PTX, and launches through the runtime.
#include <Halide.h>

#include "codegen/cuda/printed_kernel.hpp"
#include "codegen/process/scratch.hpp"

namespace qkv::codegen {

struct printing {
  std::string prefix;    // a part of the names of all that is added
  std::string compiler;  // nvcc or clang
  std::string keep;      // not empty: KEEP.<kernel>.<target>.<rows>rows.cu and .ptx are written
};

// Throws std::runtime_error when the compiler fails.
Halide::Module with_printed_kernels(const Halide::Module &, const printed_kernels &,
                                    const printing &, const scratch &);

}  // namespace qkv::codegen
