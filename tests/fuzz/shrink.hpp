#pragma once
// Smaller recipes that the language still accepts.
#include <functional>

#include "tests/fuzz/recipe.hpp"

namespace qkv::fuzz {

// Without the steps that no result needs, nor the arguments that no step needs, nor the axes that nothing has.
recipe pruned(const recipe &, bool keep_arguments = false);

// The smallest that still fails: results dropped, steps replaced by their operands or by arguments, axes and sizes taken
// away, types made f32. `fails` is asked only about recipes that the language accepts.
recipe shrunk(recipe, const std::function<bool(const recipe &)> &fails);

}  // namespace qkv::fuzz
