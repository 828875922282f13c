// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in scans: a running maximum that begins at 0.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> scan_slips(const program &);

}  // namespace qkv::codegen
