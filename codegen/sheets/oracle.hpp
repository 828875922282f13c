// SPDX-License-Identifier: BSL-1.0
#pragma once
// Facts about a kernel for the tool of a generated library, beyond the compiled code: sheet,
// reference, cost, comparison.
#include <qkv/tool.hpp>
#include <vector>

#include "codegen/program/traceable.hpp"

namespace qkv::codegen {

tool::entry oracle(program);
tool::entry oracle_of_gradient(program gradient, program forward);
std::vector<tool::entry> oracles_of(const std::vector<traceable> &);

}  // namespace qkv::codegen
