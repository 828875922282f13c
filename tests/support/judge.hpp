// SPDX-License-Identifier: BSL-1.0
#pragma once
// Compares results of compiled kernels with the interpreter by the 2x rule, except where no
// computation in this precision could be right. Each function returns an empty text, or one line
// about a wrong element.
#include <string>

#include "codegen/reference/interpreter.hpp"

namespace qkv::testing {

// Excuses elements for which arguments that differ only by rounding give a different result:
// comparisons of equal numbers, poles, overflow.
std::string wrong_results(const codegen::program &, const codegen::arrays &arguments,
                          const codegen::size_map &, const codegen::arrays &results);

// The same for arguments that hold NaN and infinities. Judges the elements of which every order of
// contraction agrees whether they are finite, and the whole numbers on which every order agrees. A
// finite one may be off by twice the error of any order.
std::string wrong_special_results(const codegen::program &, const codegen::arrays &arguments,
                                  const codegen::size_map &, const codegen::arrays &results);

}  // namespace qkv::testing
