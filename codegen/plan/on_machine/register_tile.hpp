// SPDX-License-Identifier: BSL-1.0
#pragma once
// The registers of an inner loop that multiplies pairs and values.
#include <optional>

#include "codegen/machines/machine.hpp"
#include "codegen/plan/on_machine/attention_tile.hpp"

namespace qkv::codegen {

int divisor_up_to(int n, int most);

// Rows of pairs times vectors of columns.
struct register_tile {
  std::optional<int> columns;
  int lanes = 0, vectors = 0, rows = 0;
};

// How values are read where lanes of the pairs hold keys.
struct value_reads {
  int least_rows = 1;   // of pairs, which share a vector of values
  int least_bytes = 0;  // of a row at once, even if fewer rows share them
};

// Of this tile; nullopt where rows lie in lanes. A single tile of rows reads values from memory,
// which hardware prefetches in long runs; several tiles read them from cache.
std::optional<value_reads> value_reads_of(const cpu_tiles &, const attention_tile &);

// Of so many columns, which are unknown where the call decides them. Where rows lie in lanes, the
// tile is the one with the fewest loads for a product.
register_tile register_tile_of(const cpu_tiles &, std::optional<int> columns, int rows, int lanes,
                               const std::optional<value_reads> &);

}  // namespace qkv::codegen
