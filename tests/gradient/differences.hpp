// SPDX-License-Identifier: BSL-1.0
#pragma once
// Arguments at which gradients are compared with finite differences.
#include <cstdint>
#include <string>

#include "codegen/reference/differences.hpp"

namespace qkv::testing {

// Small sizes of the axes that the call decides: batch axes 2, the others `first` and on, such that
// conditions of split, merge and concat hold.
codegen::size_map small_sizes(const codegen::program &, std::int64_t first = 3);

// Random arguments: floating ones are normal, or their absolute values plus 1/2 if `positive`.
codegen::arrays arguments_for(const codegen::program &, const codegen::size_map &,
                              std::uint64_t seed, bool positive = false);

// Random adjoints of the results, added to the arguments as d<result>. Those of infinite elements
// are 0 in a program without masks; with masks, the elements may be absent ones.
codegen::arrays with_adjoints(const codegen::program &forward, codegen::arrays arguments,
                              const codegen::size_map &, std::uint64_t seed);

// Compares the gradient with finite differences (codegen/reference/differences.hpp). `all`:
// arguments and adjoints. Empty when all agree; else one line with the argument.
std::string wrong_gradient(const codegen::program &forward, const codegen::program &gradient,
                           const codegen::arrays &all, const codegen::size_map & = {},
                           std::uint64_t seed = 1);

}  // namespace qkv::testing
