// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in quotients that normalise: a sum of weights, or a mean of squares, of something else than
// what is divided.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

// Steps named by let() are exempt.
std::vector<slip> quotient_slips(const program &);

}  // namespace qkv::codegen
