#pragma once
// What an argument of a spec is called in C.
#include <string>
#include <string_view>

namespace qkv::codegen {

// The name itself; with an underscore behind it where it is a word of C or C++.
std::string c_name(std::string_view);

}  // namespace qkv::codegen
