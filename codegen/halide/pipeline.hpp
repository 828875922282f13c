// SPDX-License-Identifier: BSL-1.0
#pragma once
// A whole kernel as one Halide pipeline for one target: every stage lowered, then scheduled.
#include <Halide.h>

#include <functional>
#include <string>
#include <vector>

#include "codegen/cuda/printed_kernel.hpp"
#include "codegen/machines/machine.hpp"
#include "codegen/plan/plan.hpp"

namespace qkv::codegen {

struct compiled_form {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;
  printed_kernels printed;         // whose launches are in the pipeline
  std::vector<std::string> loops;  // of C++, which the pipeline calls
  std::vector<node_id> by_loops;   // the steps that these store
};

// Who writes stages besides Halide, where they can.
struct other_writers {
  bool cuda = false;  // kernels of CUDA, for which a compiler is needed
  // Loops of C++, of stages of a CPU by their positions in the plan; functions are called
  // LOOPS_POSITION.
  std::function<bool(std::size_t)> plain;
  std::string loops;
};

// Throws std::runtime_error if the kernel needs what the machine lacks.
compiled_form lower_pipeline(const plan &, const machine &, const other_writers & = {});

}  // namespace qkv::codegen
