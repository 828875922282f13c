// SPDX-License-Identifier: BSL-1.0
#pragma once
// The machines that are built in, and those that a list of targets names.
#include <string>
#include <string_view>
#include <vector>

#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

// The files of this folder, in the order of their names.
const std::vector<machine> &machines();

// The text of one of them; empty: there is none of this name.
std::string_view text_of_machine(const std::string &name);

// "host,cuda" -> the machines of these names, or of which they are a part, each once: those of the
// host first, of each device the best first. Throws std::runtime_error, which names the known ones,
// for an unknown name.
std::vector<machine> targets_of(const std::string &list,
                                const std::vector<machine> &known = machines());

}  // namespace qkv::codegen
