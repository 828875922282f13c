#pragma once
// Random specs that the language accepts: wild graphs of every operation, and graphs that look like
// attention.
#include <cstdint>

#include "tests/fuzz/recipe.hpp"

namespace qkv::fuzz {

struct taste {
  bool small = false;   // static sizes of a few positions, only for the interpreter
  bool no_f64 = false;  // as on GPUs
};

// The same seed draws the same spec.
recipe draw(std::uint64_t seed, const taste & = {});

}  // namespace qkv::fuzz
