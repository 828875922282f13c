// SPDX-License-Identifier: BSL-1.0
#pragma once
// Halide's expressions as text of CUDA C++.
#include <Halide.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace qkv::codegen {

// Returns how the text calls a variable.
using variable_text = std::function<std::string(const Halide::Internal::Variable &)>;
// Returns the text of an element of a tensor or of another Func, at these coordinates.
using element_text =
    std::function<std::string(const Halide::Internal::Call &, const std::vector<std::string> &at)>;

// The body of a function that returns the value: one line for each operation that is computed, each
// once. Numbers of 16 bits are their bits, in unsigned short. Throws std::runtime_error for an
// operation that has no text.
std::string function_body(const Halide::Expr &, const variable_text &, const element_text &);

// The name of the type that holds such numbers.
std::string c_type(const Halide::Type &);

}  // namespace qkv::codegen
