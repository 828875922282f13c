// SPDX-License-Identifier: BSL-1.0
#pragma once
// Names that are not allowed in C.
#include <string_view>

namespace qkv::codegen {

// True for a keyword of C or C++, a name that looks like a macro, and the type of the parameters.
bool is_word_of_c(std::string_view);

}  // namespace qkv::codegen
