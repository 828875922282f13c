// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in where queries and keys stand: positions from 0 beside a cache, the oldest keys for the
// newest queries, two bases of rotary angles.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> placement_slips(const program &);

}  // namespace qkv::codegen
