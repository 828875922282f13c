// SPDX-License-Identifier: BSL-1.0
#pragma once
// A whole kernel as one Halide pipeline for one target: every stage lowered, then scheduled.
#include <Halide.h>

#include <string>
#include <vector>

#include "codegen/cuda/printed_kernel.hpp"
#include "codegen/plan/on_machine/machine_plan.hpp"

namespace qkv::codegen {

// A stage for which loops were wanted.
struct stage_by_loops {
  node_id root = no_step;
  std::string text;       // empty where Halide computes it
  std::string otherwise;  // the reason why
};

struct compiled_form {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;
  printed_kernels printed;            // whose launches are in the pipeline
  std::vector<stage_by_loops> loops;  // which the pipeline calls
};

// `loops_prefix`: of the functions of loops, PREFIX_POSITION. Throws std::runtime_error if the
// machine lacks what the kernel needs, or if loops cannot compute a stage that requires them.
compiled_form lower_pipeline(const machine_plan &, const std::string &loops_prefix = "");

}  // namespace qkv::codegen
