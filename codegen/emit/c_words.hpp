#pragma once
// What cannot be a name in C.
#include <string_view>

namespace qkv::codegen {

// Whether it is a word of C or C++, looks like a macro, or is the type of the parameters.
bool is_word_of_c(std::string_view);

}  // namespace qkv::codegen
