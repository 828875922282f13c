// SPDX-License-Identifier: BSL-1.0
#pragma once
// The memory layout of stored steps.
#include <vector>

#include "codegen/plan/stages.hpp"

namespace qkv::codegen {

// The order of a stored step's axes in memory, outermost first: its users' needs decide.
std::vector<axis_id> storage_order(const program &, const stages &, node_id);

}  // namespace qkv::codegen
