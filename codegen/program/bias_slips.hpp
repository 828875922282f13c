// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in biases of distances: those whose sign or whose buckets do not agree with the mask.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> bias_slips(const program &);

}  // namespace qkv::codegen
