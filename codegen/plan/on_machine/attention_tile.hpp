// SPDX-License-Identifier: BSL-1.0
#pragma once
// The tile of one form of an attention: its rows and keys, the calls that take it, and what lanes
// or threads hold.
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/plan/tensor_form.hpp"

namespace qkv::codegen {

// The widest vector of at most so many lanes that divides n.
inline int lanes_dividing(int n, int most) {
  int lanes = most;
  while (n % lanes != 0) lanes /= 2;
  return lanes;
}

// Padded values of at most so many vectors: they are unrolled.
inline constexpr int most_value_vectors = 16;

// Calls that a tile is for: of so many rows, which are one task, and of at most so many keys; any:
// of all others.
struct called_rows {
  static constexpr std::int64_t any = -1;
  std::int64_t least = 0, most = any, most_keys = any;
  // Of these, calls of so many rows take the tile for all others.
  std::int64_t skipped_least = 0, skipped_most = -1;
  bool skips_some() const { return skipped_most >= skipped_least; }
};

// The threads of a tile of a GPU.
struct tile_threads {
  int columns = 0;      // of o that each keeps for its rows. 0: the state's rows lie in lanes
  int x = 0, y = 0;     // along keys and columns; along rows
  bool staged = false;  // queries and keys go through shared memory
  bool column_blocks =
      false;  // the columns do not fit into one block of threads, or their number is unknown
};

struct attention_tile {
  int rows = 0;         // query rows of a tile
  int keys = 0;         // keys of a block
  int per_task = 1;     // tiles that share a block of keys while it is in cache
  int least_tasks = 1;  // of a walk that keeps its sums
  int score_keys = 0;   // at most, of a register tile of scores

  called_rows called;
  bool is_for_few_rows() const { return called.most != called_rows::any; }
  // Tiles of a task share keys and values, which all but the first read from cache.
  bool reads_keys_from_cache() const { return !is_for_few_rows() && per_task > 1; }
  // Axes along which the rows of such a call lie besides the stage's own, outermost first: neither
  // keys nor values vary along them.
  std::vector<axis_id> folded;
  // Not 0: so many lanes hold keys, and others the features of a product, since few rows would not
  // fill them. 0: lanes hold rows.
  int key_lanes = 0, feature_lanes = 0;
  bool keys_in_lanes() const { return key_lanes > 0; }
  // Calls have one tile of rows and one block of keys: nothing is merged, and no state is kept.
  bool one_block = false;
  // Calls have one tile of rows.
  bool is_only_tile() const { return is_for_few_rows() && called.most <= rows; }
  // Not 0: vectors of so many columns hold values, which may not fill the last; where lanes hold
  // rows, from copies.
  int value_lanes = 0;
  // Of products of bf16, two of which are added to one sum of f32 at a time; else, bf16 is widened.
  std::optional<tensor_form> bf16;
  // True if matrix tiles compute these products; lanes then hold keys, of any number of rows.
  bool in_matrix_tiles = false;
  // The columns of these vectors; `columns` where narrower ones divide them and are as few.
  int padded(int columns) const {
    if (in_matrix_tiles) return (columns + value_lanes - 1) / value_lanes * value_lanes;
    if (value_lanes == 0 || columns > most_value_vectors * value_lanes) return columns;
    const int vectors = (columns + value_lanes - 1) / value_lanes;
    const int narrow = columns / lanes_dividing(columns, value_lanes);
    return vectors < narrow ? vectors * value_lanes : columns;
  }

  tile_threads threads;
  bool dealt_to_threads() const { return threads.columns > 0; }
};

}  // namespace qkv::codegen
