#pragma once
// Slips in conditions and in masks: what is always or never true, additive masks that hide the
// wrong side, a total without the mask of its weights.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> mask_slips(const program &);

}  // namespace qkv::codegen
