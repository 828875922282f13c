#pragma once
// Tile sizes, found by measurement. Data only: a new machine is a new row.
#include <Halide.h>

#include <cstdint>

#include "codegen/halide/lower/attention.hpp"

namespace qkv::codegen {

// How many numbers of so many bits a register holds and how many registers there are for sums: 24 of 32, or 12 of 16.
struct registers {
  int lanes;
  int accumulators;
};
registers registers_of(const Halide::Target &, int bits = 32);

// keys_shape: what is known of the problem when it is compiled (-1: decided at the call).
attention_tile attention_tile_for(const Halide::Target &, std::int64_t rows, std::int64_t columns);

// Rows of the left operand that share one sweep over the right one.
inline constexpr int contraction_row_block = 240;

}  // namespace qkv::codegen
