// SPDX-License-Identifier: BSL-1.0
#pragma once
// The headline of a sheet: how a kernel changes shapes.
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// The change of shape from an input to a result, batch axes first, with the steps that have a name:
// "X (1,4,512) -> Q (1,8,4,64) -> scores (1,8,4,4) -> (1,8,4,64) -> Y (1,4,512)"
std::string shape_trace(const program &, node_id result, const std::vector<std::int64_t> &size);

}  // namespace qkv::codegen
