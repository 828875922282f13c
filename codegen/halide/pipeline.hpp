// SPDX-License-Identifier: BSL-1.0
#pragma once
// A whole kernel as one Halide pipeline for one target: every stage lowered, then scheduled.
#include <Halide.h>

#include <set>
#include <string>
#include <vector>

#include "codegen/cuda/printed_kernel.hpp"
#include "codegen/machines/machine.hpp"
#include "codegen/plan/plan.hpp"

namespace qkv::codegen {

// The stages that loops of C++ compute, by their positions in the plan: none, those that can be, or
// exactly these.
struct plain_choice {
  bool where_possible = false;
  std::set<std::size_t> stages;
};

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

// Writers that take stages from Halide where they can.
struct other_writers {
  bool cuda = false;          // prints CUDA kernels; requires a CUDA compiler
  plain_choice plain = {};    // prints loops of C++ on CPUs
  std::string symbol_prefix;  // of the functions of these: PREFIX_POSITION
};

// Throws std::runtime_error if the machine lacks what the kernel needs, or if loops cannot compute
// a stage that `plain` names.
compiled_form lower_pipeline(const plan &, const machine &, const other_writers & = {});

}  // namespace qkv::codegen
