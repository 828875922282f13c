// SPDX-License-Identifier: BSL-1.0
#pragma once
// Contractions of weights and values whose scale or masks do not fit each other.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> value_slips(const program &);

}  // namespace qkv::codegen
