// SPDX-License-Identifier: BSL-1.0
#pragma once
// The gradient of a kernel as a kernel: reverse mode, from program to program.
#include <string>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// For L = the sum over all results O of sum(dO * O): dL / d of each argument of floating type, or
// of those that `wanted` names. Arguments: those of p, then d<output> for each floating result;
// results: those of p if has_results, then d<argument>. Its name is <name>_gradient, or
// <name>_value_and_gradient. The program is the one as it was written. An absent element of a
// result is a constant. Ties of min and max share. Throws std::runtime_error with the kernel and
// the step where no rule applies, and where names clash or are not those of arguments with a
// gradient.
program gradient(const program &p, const std::vector<std::string> &wanted = {},
                 bool has_results = false);

}  // namespace qkv::codegen
