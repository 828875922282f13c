#pragma once
// A whole kernel as one Halide pipeline for one target: every stage lowered, then scheduled.
#include <Halide.h>

#include "codegen/machines/machine.hpp"
#include "codegen/plan/plan.hpp"

namespace qkv::codegen {

struct compiled_form {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;
};

// Throws std::runtime_error if the kernel needs what the machine lacks.
compiled_form lower_pipeline(const plan &, const machine &);

}  // namespace qkv::codegen
