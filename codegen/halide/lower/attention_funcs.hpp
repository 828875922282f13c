#pragma once
// The tile of an attention stage and its Funcs, which the algorithm defines and a schedule places.
#include <Halide.h>

#include <vector>

#include "codegen/halide/lower/context.hpp"
#include "codegen/halide/lower/state_layout.hpp"

namespace qkv::codegen {

struct attention_tile {
  int rows = 0;       // query rows of a tile
  int keys = 0;       // keys of a block
  int per_task = 1;   // tiles that share a block of keys while it is in cache
  int value_row = 0;  // V is copied block by block into rows of this many numbers; 0: used in place

  // Tiles of a GPU: each thread keeps this many columns of o for its rows. 0: the state's rows lie in lanes.
  int columns_per_thread = 0;
  int threads_x = 0, threads_y = 0;  // along keys and columns; along rows
  bool staged = false;               // queries and keys go through shared memory
  bool column_blocks =
      false;  // the columns do not fit into one block of threads, or their number is unknown
  bool dealt_to_threads() const { return columns_per_thread > 0; }
};

// Every Func of the stage, for a schedule to place.
struct attention_funcs {
  attention_tile tile;
  bool running_max = true;  // softmax; false: weights are summed as they are
  int state_rows = 4;       // rows of the state before those of o: alpha, beta, m, l; or l alone
  Halide::Var i{"i"}, j{"j"}, b{"b"}, T{"T"}, c{"c"}, x{"x"}, y{"y"};
  std::vector<Halide::Var> outer;       // innermost first
  std::vector<Halide::Func> row_tiles;  // (i, features..., T, outer...): query rows, transposed
  std::vector<Halide::Func>
      pair_tiles;  // (i, j, b, T, outer...): what is read per query and key, transposed
  std::vector<Halide::Func>
      key_tiles;  // (features..., j, b, outer of it...): keys of a block, clamped to the last one
  std::vector<Halide::Func>
      products;  // (i, j, b, T, outer...): one per contraction inside the scores
  std::vector<std::vector<Halide::RVar>> features;  // what each product sums over
  Halide::Func scores;                              // (i, j, b, T, outer...)
  Halide::Func block_max, weights, block_sum;
  Halide::Func gated;  // the weights times the gate; the weights themselves where there is none
  bool has_gate() const { return gated.name() != weights.name(); }
  Halide::Func values;  // (c, j, b, outer of V...): V, padded when its width is run-time
  Halide::Func suspect_columns,
      suspect;  // is there anything but finite numbers in a block of V? Defined if masked
  Halide::RDom all_columns;
  Halide::Func product_v, block_out;      // (c, i, b, T, outer...)
  Halide::RDom keys;                      // within a block
  Halide::RDom keys_clean, keys_suspect;  // the same, for the product with V
  Halide::Func state;                     // (layout.vars..., T, outer...)
  state_layout layout;
  Halide::RDom steps;           // of the layout: x, y, block; or cell, block
  Halide::Expr columns, width;  // extent of c; of x
  bool padded_values = false;
  Halide::Func out;  // rows of out trigger the tiles
  Halide::Var out_row{"row"}, out_column{"column"};
  std::vector<Halide::Var> out_outer;  // innermost first
  bool has_row = true, has_column = true;
  std::vector<Halide::Func> copies;  // of (o, lse) when both are stored
};

}  // namespace qkv::codegen
