// SPDX-License-Identifier: BSL-1.0
#pragma once
// A plan on one machine, as text: the tiles of each stage, and the calls that each is for.
#include <string>
#include <vector>

#include "codegen/plan/on_machine/machine_plan.hpp"

namespace qkv::codegen {

std::string sheet_of(const machine_plan &);

// C++ that a tool is linked with: the function qkv_machines_<library>() returns the sheet of each
// kernel on each machine.
std::string machine_sheets(const std::string &library,
                           const std::vector<std::vector<machine_plan>> &kernels);

}  // namespace qkv::codegen
