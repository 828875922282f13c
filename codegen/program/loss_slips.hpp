// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in losses: labels that the model has read, one of two distributions without the
// temperature, margins whose sides are exchanged.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

// Steps named by let() are exempt.
std::vector<slip> loss_slips(const program &);

}  // namespace qkv::codegen
