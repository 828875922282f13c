// SPDX-License-Identifier: BSL-1.0
#pragma once
// The C side of a generated library: constant tables, one plain function per kernel, registration
// at load.
#include <string>
#include <vector>

#include "codegen/machines/machines.hpp"
#include "codegen/plan/plan.hpp"

namespace qkv::codegen {

std::string c_header(const std::string &library, const std::vector<program> &);
std::string c_tables(const std::string &library, const std::vector<plan> &,
                     const std::vector<machine> &);

}  // namespace qkv::codegen
