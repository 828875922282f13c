// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in factors: whole numbers that became 0, two dropouts that draw the same numbers.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> factor_slips(const program &);

}  // namespace qkv::codegen
