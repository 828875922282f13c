// SPDX-License-Identifier: BSL-1.0
#pragma once
// Positions that a mask hides in one place and another step sees.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> leak_slips(const program &);

}  // namespace qkv::codegen
