#pragma once
// A whole kernel as one Halide pipeline for one target: every stage lowered, then scheduled.
#include <Halide.h>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

struct compiled_form {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;
};

// `simplified` program. Throws std::runtime_error when it asks for what is not supported.
compiled_form lower_pipeline(const program &, const Halide::Target &);

}  // namespace qkv::codegen
