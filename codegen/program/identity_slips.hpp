// SPDX-License-Identifier: BSL-1.0
#pragma once
// Formulas that give something simpler than they seem to.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

// Such as log(exp(x)), sigmoid(sigmoid(x)) and min(max(x, 1.2), 0.8).
std::vector<slip> identity_slips(const program &);

}  // namespace qkv::codegen
