// SPDX-License-Identifier: BSL-1.0
#pragma once
// A whole kernel as one Halide pipeline for one target: every stage lowered, then scheduled.
#include <Halide.h>

#include "codegen/cuda/printed_kernel.hpp"
#include "codegen/machines/machine.hpp"
#include "codegen/plan/plan.hpp"

namespace qkv::codegen {

struct compiled_form {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;
  printed_kernels printed;  // whose launches are in the pipeline
};

// Throws std::runtime_error if the kernel needs what the machine lacks. `prints`: whether kernels
// may be printed, for which a compiler of CUDA is needed.
compiled_form lower_pipeline(const plan &, const machine &, bool prints = false);

}  // namespace qkv::codegen
