// SPDX-License-Identifier: BSL-1.0
#pragma once
// Halide's error about an expression that it cannot compile, as one line about a step of the
// kernel.
#include <Halide.h>

#include <string>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// "kernel: step: reason". A `step` of -1 means the one whose Func Halide's error names.
std::string refusal(const program &, node_id step, const Halide::Error &);

}  // namespace qkv::codegen
