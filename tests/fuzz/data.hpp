// SPDX-License-Identifier: BSL-1.0
#pragma once
// Inputs for a drawn kernel: sizes that fit its conditions, and arguments.
#include <optional>

#include "codegen/reference/interpreter.hpp"
#include "tests/fuzz/drawer.hpp"

namespace qkv::fuzz {

// Sizes of the axes that the call decides: drawn from `lengths`, batch axes from 1 to 3, reduced
// until the work is at most `work` multiplications. Empty if no sizes fit the conditions.
std::optional<codegen::size_map> sizes_for(const codegen::program &, dice &,
                                           const std::vector<long> &lengths, double work);

// Number of multiplications and additions of all steps.
double work_of(const codegen::program &, const codegen::size_map &);

// Floats are normally distributed and rounded as stored; params are scaled as in a trained model;
// positions range from just before an axis to just behind it; three of four conditions are true.
// One float in `special` is NaN or infinite; 0: none.
codegen::arrays arguments_for(const codegen::program &, const codegen::size_map &, dice &,
                              int special = 0);

}  // namespace qkv::fuzz
