// SPDX-License-Identifier: BSL-1.0
#pragma once
// C code that tests whether the processor of a call can run the code for a machine.
#include <string>
#include <vector>

#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

// One function a machine, and what these share.
std::string processor_checks(const std::vector<machine> &);
// That of a machine; "0" if every processor can run its code.
std::string name_of_processor_check(const machine &);

}  // namespace qkv::codegen
