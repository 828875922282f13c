// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in the terms of scores: those that a softmax cancels, and biases that favour distant keys.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

// Steps named by let() are exempt.
std::vector<slip> term_slips(const program &);

}  // namespace qkv::codegen
