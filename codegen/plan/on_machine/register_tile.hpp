// SPDX-License-Identifier: BSL-1.0
#pragma once
// The registers of an inner loop that multiplies pairs and values.
#include <optional>

#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

int divisor_up_to(int n, int most);

// Rows of pairs times vectors of columns.
struct register_tile {
  std::optional<int> columns;
  int lanes = 0, vectors = 0, rows = 0;
};

// Of so many columns, which are unknown where the call decides them: the tile with the fewest loads
// for a product, of those that fit the registers. Sums of a single row may exceed them.
register_tile register_tile_of(const cpu_tiles &, std::optional<int> columns, int rows, int lanes);

}  // namespace qkv::codegen
