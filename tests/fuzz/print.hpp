// SPDX-License-Identifier: BSL-1.0
#pragma once
// A recipe as the C++ that a person would write.
#include <string>

#include "tests/fuzz/recipe.hpp"

namespace qkv::fuzz {

// The body of a header without its includes: the axes and the kernel, in a namespace of this name.
std::string cpp_of(const recipe &, const std::string &space = "fuzzed");

// The same with its includes, to be pasted into a file.
std::string header_of(const recipe &);

}  // namespace qkv::fuzz
