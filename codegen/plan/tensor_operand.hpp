// SPDX-License-Identifier: BSL-1.0
#pragma once
// Operands of tensor cores: tensors in memory.
#include <optional>
#include <vector>

#include "codegen/plan/plan.hpp"

namespace qkv::codegen {

// An argument or a stored step, and the views through which the stage reads it, the outermost
// first.
struct tensor_operand {
  node_id step = no_step;  // of f32, which the stage reads
  node_id memory = no_step;
  std::vector<node_id> views;
  std::vector<axis_id> axes;  // as the stage sees them, the outermost in memory first
};

// The tensor whose numbers a step of f32 has, perhaps widened from 16 bits; empty where the step
// computes them. All of them must be present: the caller knows the steps with gaps.
std::optional<tensor_operand> operand_of(const plan &, node_id, const std::vector<bool> &gaps);

}  // namespace qkv::codegen
