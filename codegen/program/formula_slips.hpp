// SPDX-License-Identifier: BSL-1.0
#pragma once
// Formulas that differ from a well-known one in a sign, a factor or an axis.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

// Such as z * h + z * c, sum<a>(p * (log(q) - log(p))) and the mean of perplexities.
std::vector<slip> formula_slips(const program &);

}  // namespace qkv::codegen
