// SPDX-License-Identifier: BSL-1.0
#pragma once
// The steps of a kernel as heat maps, one below the other.
#include <qkv/tool.hpp>

#include <string>
#include <vector>

namespace qkv::codegen {

// A whole SVG file. Each step is a row of matrices over its last two axes, one for each position
// along the others; red is positive, blue is negative, grey is hidden, infinite or NaN. Long axes
// are cut off.
std::string heat_maps_svg(const std::vector<tool::step> &);

}  // namespace qkv::codegen
