#pragma once
// A whole kernel as one Halide pipeline for one target: every stage lowered, then scheduled.
#include <Halide.h>

#include "codegen/plan/plan.hpp"

namespace qkv::codegen {

struct compiled_form {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;
};

// Throws std::runtime_error if the kernel needs what the target lacks.
compiled_form lower_pipeline(const plan &, const Halide::Target &);

}  // namespace qkv::codegen
