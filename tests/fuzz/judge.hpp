#pragma once
// Compares results of compiled kernels with the interpreter by the 2x rule, except where no
// computation in this precision could be right.
#include <string>

#include "codegen/reference/interpreter.hpp"

namespace qkv::fuzz {

// Skips elements for which arguments that differ only by rounding give a different result:
// comparisons of equal numbers, poles, overflow.
std::string wrong_results(const codegen::program &, const codegen::arrays &arguments,
                          const codegen::size_map &, const codegen::arrays &results);

// Judges the elements of which every order of contraction agrees whether they are finite.
std::string wrong_special_results(const codegen::program &, const codegen::arrays &arguments,
                                  const codegen::size_map &, const codegen::arrays &results);

}  // namespace qkv::fuzz
