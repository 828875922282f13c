// SPDX-License-Identifier: BSL-1.0
#pragma once
// The line of a spec that a slip is in.
#include <string>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// "spec.hpp:12: error: " for a step: the line of the statement that says most of it, by its
// operation, arguments and numbers, also those of the variables that it names; the first line of
// the kernel where no statement says any of it. Empty if the kernel is neither in this file
// nor in one that it includes by a path in quotes.
std::string place_of(const program &, node_id step, const std::string &spec);

}  // namespace qkv::codegen
