// SPDX-License-Identifier: BSL-1.0
#pragma once
// All slips that the values, positions and names of a program show, not its types. Each kind is
// looked for in a file of its own, *_slips.
#include <string>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// One line for each: the kernel, the step, and the likely fix. Steps named by let() are exempt.
std::vector<std::string> slips_of(const program &);

}  // namespace qkv::codegen
