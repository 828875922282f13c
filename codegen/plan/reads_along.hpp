// SPDX-License-Identifier: BSL-1.0
#pragma once
// How the numbers of memory that a step is computed from lie along one of its axes.
#include "codegen/plan/plan.hpp"

namespace qkv::codegen {

struct reads_along {
  int side_by_side = 0;  // the next position's number is the next one in memory
  int apart = 0;         // it is somewhere else
};

// Counts the arguments and stored steps that the step reads and that vary along the axis, through
// views and gathers. Those that do not vary are not counted.
reads_along reads_of(const plan &, node_id step, axis_id);

}  // namespace qkv::codegen
