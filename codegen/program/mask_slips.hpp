// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in masks: additive ones that hide the wrong side or nothing, numbers in place of hidden
// values, a total without the mask of its weights.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> mask_slips(const program &);

}  // namespace qkv::codegen
