#pragma once
// Results of compiled kernels against the interpreter: the 2x rule, but where no computation in this precision could be
// right.
#include <string>

#include "codegen/reference/interpreter.hpp"

namespace qkv::fuzz {

// Elements are left out where arguments that differ by rounding alone lead to something else: comparisons of equal
// numbers, poles, overflow.
std::string wrong_results(const codegen::program &, const codegen::arrays &arguments,
                          const codegen::size_map &, const codegen::arrays &results);

// Elements count where every order of contraction agrees on whether they are finite.
std::string wrong_special_results(const codegen::program &, const codegen::arrays &arguments,
                                  const codegen::size_map &, const codegen::arrays &results);

}  // namespace qkv::fuzz
