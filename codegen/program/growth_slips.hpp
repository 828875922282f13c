// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in decays: factors that grow with the distance of a key or with every step of a scan.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> growth_slips(const program &);

}  // namespace qkv::codegen
