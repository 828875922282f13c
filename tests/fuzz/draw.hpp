// SPDX-License-Identifier: BSL-1.0
#pragma once
// Random specs that the language accepts: wild graphs of every operation, and graphs that look like
// attention.
#include <cstdint>

#include "tests/fuzz/recipe.hpp"
#include "tests/fuzz/taste.hpp"

namespace qkv::fuzz {

// The same seed draws the same spec.
recipe draw(std::uint64_t seed, const taste & = {});

}  // namespace qkv::fuzz
