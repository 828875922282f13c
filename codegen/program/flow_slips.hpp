// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in what flows into a step: later positions into a causal one, a residual past a layer.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

// Such as take<seq>(X, index(seq) + 1) before a causal mask, the first position of a
// causal layer as a summary, and X + mlp(h) where h = X + attention.
std::vector<slip> flow_slips(const program &);

}  // namespace qkv::codegen
