// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in parts of an axis: joined in two orders, or cut from another position than the keys that
// they belong to.
#include <vector>

#include "codegen/program/program.hpp"
#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> slice_slips(const program &);

}  // namespace qkv::codegen
