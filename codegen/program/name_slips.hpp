// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips that a name shows: a length that counts one too many, a loss that is never positive.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> name_slips(const program &);

}  // namespace qkv::codegen
