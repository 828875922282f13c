// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips with weights, and with their logarithms: scores without softmax, weights that are averaged
// or added to scores, logarithms that are divided.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> weight_slips(const program &);

}  // namespace qkv::codegen
