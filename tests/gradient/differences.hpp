#pragma once
// Gradients against finite differences in extended precision.
#include <cstdint>
#include <string>

#include "codegen/reference/interpreter.hpp"

namespace qkv::testing {

// The program with f64 in place of every floating type: the interpreter computes it in long double.
codegen::program widened(const codegen::program &);

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

// Compares each result d<argument> of `gradient` with differences of `forward` in three random
// directions: central ones of the steps 1e-5 and 2e-5, combined such that errors of the third order
// cancel. Directions across a kink, where both steps disagree, are drawn anew. An element of a
// result that is not finite counts as a constant. `all`: arguments and adjoints. Empty when all
// agree; else one line with the argument.
std::string wrong_gradient(const codegen::program &forward, const codegen::program &gradient,
                           const codegen::arrays &all, const codegen::size_map & = {},
                           std::uint64_t seed = 1);

}  // namespace qkv::testing
