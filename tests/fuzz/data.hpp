#pragma once
// What a drawn kernel is called with: sizes that fit its conditions, and arguments.
#include <optional>

#include "codegen/reference/interpreter.hpp"
#include "tests/fuzz/drawer.hpp"

namespace qkv::fuzz {

// Sizes of the axes that the call decides: taken from `lengths` in turn, batch axes from 1 to 3, made smaller until the
// work is at most `work` multiplications. Nothing where no sizes fit the conditions.
std::optional<codegen::size_map> sizes_for(const codegen::program &, dice &,
                                           const std::vector<long> &lengths, double work);

// Multiplications and additions of every step.
double work_of(const codegen::program &, const codegen::size_map &);

// Floats normal and as stored, params as in a trained model, positions from just before an axis to just behind it,
// three of four conditions true. One float in `special` is NaN or infinite; 0: none.
codegen::arrays arguments_for(const codegen::program &, const codegen::size_map &, dice &,
                              int special = 0);

}  // namespace qkv::fuzz
