// SPDX-License-Identifier: BSL-1.0
#pragma once
// Halide's expressions as text of C++, for CUDA and for processors.
#include <Halide.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace qkv::codegen {

// An operation or a type has no text: another writer can compute the stage.
struct no_text : std::runtime_error {
  using runtime_error::runtime_error;
};

// Returns how the text calls a variable.
using variable_text = std::function<std::string(const Halide::Internal::Variable &)>;
// Returns the text of an element of a tensor or of another Func, at these coordinates.
using element_text =
    std::function<std::string(const Halide::Internal::Call &, const std::vector<std::string> &at)>;

// The body of a function that returns the value: one line for each operation that is computed, each
// once. Numbers of 16 bits are their bits, in unsigned short. Throws no_text.
std::string function_body(const Halide::Expr &, const variable_text &, const element_text &);

// The name of the type that holds such numbers. Throws no_text.
std::string c_type(const Halide::Type &);

}  // namespace qkv::codegen
