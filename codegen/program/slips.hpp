#pragma once
// Slips that only the values of numbers show, not types: conditions that are always or never true,
// whole numbers that became 0, additive masks that hide the wrong side.
#include <string>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// One line for each: the kernel, the step, and the likely fix. Steps named by let() are exempt.
std::vector<std::string> slips_of(const program &);

}  // namespace qkv::codegen
