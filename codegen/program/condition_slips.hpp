// SPDX-License-Identifier: BSL-1.0
#pragma once
// Conditions that are always or never true, that hide a query's own key, or show it none.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> condition_slips(const program &);

}  // namespace qkv::codegen
