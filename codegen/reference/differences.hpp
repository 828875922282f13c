// SPDX-License-Identifier: BSL-1.0
#pragma once
// A gradient against finite differences of the program that it is derived from, in extended
// precision.
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/reference/interpreter.hpp"

namespace qkv::codegen {

// The program with f64 in place of every floating type: the interpreter computes it in long double.
program widened(const program &);

// The name of the adjoint of a result, and of the gradient of an argument.
std::string adjoint_name(const node &);

// The change of the sum of adjoints * results along a direction of one argument.
struct slope {
  double by_differences = 0, by_gradient = 0;
  double scale = 1;  // 1 and the magnitudes of the terms that by_gradient adds up
};

struct compared_argument {
  std::string name;
  std::vector<slope> slopes;
  std::string wrong;  // why the gradient is wrong, or could not be compared; empty if it is right
};

// Compares each result d<argument> of `gradient` with differences of `forward` in three random
// directions: central ones of the steps 1e-5 and 2e-5, combined such that errors of the third order
// cancel. Directions across a kink, where both steps disagree, are drawn anew. An element of a
// result that is not finite counts as a constant. A gradient may differ by 1e-8 of its scale, by
// how far the two steps differ, and by the rounding of the results. `all`: arguments and adjoints.
// Cost: 12 to 48 times the forward for each argument, by the interpreter.
std::vector<compared_argument> compare_with_differences(const program &forward,
                                                        const program &gradient, const arrays &all,
                                                        const size_map &sizes, std::uint64_t seed);

}  // namespace qkv::codegen
