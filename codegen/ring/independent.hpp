// SPDX-License-Identifier: BSL-1.0
#pragma once
// Axes along which machines can divide the pairs beside their tokens, as heads.
#include <vector>

#include "codegen/ring/token_places.hpp"

namespace qkv::codegen {

// Batch axes that every sum of a hop has, and along which no step of a hop reads another position.
// After each, the axes that split<> divides into it, the outer one, and another axis.
std::vector<axis_id> independent_axes(const program &, const token_places &);

}  // namespace qkv::codegen
