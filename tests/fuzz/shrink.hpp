// SPDX-License-Identifier: BSL-1.0
#pragma once
// Reduces recipes to smaller ones that the language still accepts.
#include <functional>

#include "tests/fuzz/recipe.hpp"

namespace qkv::fuzz {

// Removes steps that no result needs, arguments that no step needs, and axes that nothing has.
recipe pruned(const recipe &, bool keep_arguments = false);

// The smallest recipe that still fails: drops results, replaces steps by their operands or by
// arguments, removes axes and sizes, and makes types f32. Calls `fails` only with recipes that the
// language accepts.
recipe shrunk(recipe, const std::function<bool(const recipe &)> &fails);

}  // namespace qkv::fuzz
