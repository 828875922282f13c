// SPDX-License-Identifier: BSL-1.0
#pragma once
// The sign that all elements of a step have, whatever the arguments.
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

enum class sign { unknown, not_negative, not_positive };

// One for each step. Those named by let() are unknown; arguments named slope.. or alibi.. are taken
// for not negative.
std::vector<sign> signs_of(const program &);

// True of 1 + exp(x), a sum of a number of at least 1 and of what is not negative. `signs`: those
// of its operands.
bool adds_one(const program &, const std::vector<sign> &signs, node_id);

}  // namespace qkv::codegen
