// SPDX-License-Identifier: BSL-1.0
#pragma once
// The sheet of a kernel: signature, shapes of every step, cost, stages. `describe K` of the tool
// prints it.
#include <string>

#include "codegen/plan/plan.hpp"
#include "codegen/program/sizes.hpp"

namespace qkv::codegen {

// Shapes are those of the program as it is written, costs those of what its plan computes. Sizes
// may be incomplete: then formulas replace numbers. Throws std::invalid_argument when sizes
// contradict each other.
std::string describe(const program &written, const plan &, const size_map &sizes = {});

}  // namespace qkv::codegen
