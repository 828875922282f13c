#pragma once
// Random specs that the language accepts: wild graphs of every operation, and graphs that look like
// attention.
#include <cstdint>

#include "tests/fuzz/recipe.hpp"

namespace qkv::fuzz {

struct taste {
  bool small = false;      // static sizes of a few positions, only for the interpreter
  bool gpu_types = false;  // without the types that OpenCL lacks
};

// The same seed draws the same spec.
recipe draw(std::uint64_t seed, const taste & = {});

}  // namespace qkv::fuzz
