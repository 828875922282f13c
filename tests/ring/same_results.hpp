// SPDX-License-Identifier: BSL-1.0
#pragma once
// Machines against one machine.
#include <string>

#include "codegen/program/program.hpp"

namespace qkv::testing {

// Compares the results of 1 to 8 machines, with several layouts and sizes, some of them smaller
// than the number of machines. Empty when all agree; else one line with the first difference.
std::string wrong_shares(const codegen::program &, const std::string &query,
                         const std::string &key);

}  // namespace qkv::testing
