// SPDX-License-Identifier: BSL-1.0
#pragma once
// The C side of a generated library: constant tables, one plain function per kernel, registration
// at load.
#include <string>
#include <vector>

#include "codegen/plan/on_machine/machine_plan.hpp"

namespace qkv::codegen {

std::string c_header(const std::string &library, const std::vector<program> &);
// Each kernel by its plans on the machines, which are the same for all.
std::string c_tables(const std::string &library,
                     const std::vector<std::vector<machine_plan>> &kernels);

}  // namespace qkv::codegen
