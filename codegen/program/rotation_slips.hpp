// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in rotations of queries and keys.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

// Features that are split into heads after the rotation, queries and keys that are rotated in
// another number of features or at another scale of positions.
std::vector<slip> rotation_slips(const program &);

}  // namespace qkv::codegen
