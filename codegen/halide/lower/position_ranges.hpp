// SPDX-License-Identifier: BSL-1.0
#pragma once
// The sizes of calls in which sums of positions and sizes stay within i32.
#include <Halide.h>

#include <vector>

#include "codegen/halide/lower/context.hpp"

namespace qkv::codegen {

struct position_requirement {
  node_id step;
  Halide::Expr holds;  // of the sizes of a call
};

// One for each guarded step (program/bounds.hpp), operands first.
std::vector<position_requirement> requirements_of_positions(const context &);

}  // namespace qkv::codegen
