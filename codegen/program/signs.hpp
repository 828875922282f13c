#pragma once
// Whether all elements of a step are at least 0, or at most 0, whatever the arguments.
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

enum class sign { unknown, not_negative, not_positive };

// Of each step. What let() names is unknown; slopes of ALiBi, by their name, are positive.
std::vector<sign> signs_of(const program &);

}  // namespace qkv::codegen
