#pragma once
// What Halide says where it cannot compile something, as one line about a step of the kernel.
#include <Halide.h>

#include <string>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// "kernel: step: reason". The step is the given one, or (-1) the one whose Func Halide names.
std::string refusal(const program &, node_id step, const Halide::Error &);

}  // namespace qkv::codegen
