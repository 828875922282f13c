#pragma once
// All that is checked of one spec. Each check returns nothing, or one line whose first words say what kind of failure it
// is, up to the first colon.
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/recipe.hpp"
#include "tests/fuzz/rewritten.hpp"

namespace qkv::fuzz {

// The interpreter before and after each rewrite and stage, sheets and pictures.
std::string wrong_meaning(const recipe &, std::uint64_t seed,
                          const std::vector<rewrite> &rewrites = all_rewrites());

// "fold_scale" of "fold_scale: O[3] is 2, not 1"
std::string kind_of(const std::string &wrong);

}  // namespace qkv::fuzz
