// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in the positions at which a table or a tensor is read: clamps to one value, rows that a
// table lacks, one half twice.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> take_slips(const program &);

}  // namespace qkv::codegen
