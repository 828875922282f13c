// SPDX-License-Identifier: BSL-1.0
#pragma once
// All slips that the values, positions and names of a program show, not its types. Each kind is
// looked for in a file of its own, *_slips.
#include <vector>

#include "codegen/program/program.hpp"
#include "codegen/program/slip.hpp"

namespace qkv::codegen {

// The text of each is one line: the kernel, the step, what is wrong and the likely fix. Steps named
// by let() are exempt. A slip of a result is left out where a step has one: it mostly follows.
std::vector<slip> slips_of(const program &);

}  // namespace qkv::codegen
