#pragma once
// Ranges of what positions, sizes and constants alone decide: index(seq) * 3 + size(kv).
#include <Halide.h>

#include <vector>

#include "codegen/lower/context.hpp"

namespace qkv::codegen {

// Compiled code and Halide take it that such arithmetic stays within i32. Other whole numbers wrap
// around (program/bounds.hpp).
struct within_i32 {
  node_id step;
  Halide::Expr holds;  // of the sizes of a call
};

// A requirement for each step of i32 that some sizes carry beyond its range, operands first.
std::vector<within_i32> requirements_of_positions(const context &);

}  // namespace qkv::codegen
