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

struct attention_vars {
  Halide::Var i{"i"}, j{"j"}, b{"b"}, T{"T"};  // row and key of a tile; block of keys; tile of rows
  Halide::Var c{"c"};                          // column of the result
  Halide::Var x{"x"}, y{"y"};                  // of the state, see its layout
  std::vector<Halide::Var> outer;              // innermost first
};

// Copies of what the scores are made of, tile by tile.
struct attention_reads {
  std::vector<Halide::Func> row_tiles;  // (i, features..., T, outer...): query rows, transposed
  std::vector<Halide::Func>
      pair_tiles;  // (i, j, b, T, outer...): read per query and key, transposed
  std::vector<Halide::Func> key_tiles;  // (features..., j, b, outer of it...), up to the last key
};

// (i, j, b, T, outer...)
struct attention_pairs {
  std::vector<Halide::Func> products;               // one per contraction inside the scores
  std::vector<std::vector<Halide::RVar>> features;  // what each product sums over
  Halide::Func scores, block_max, weights, block_sum;
  Halide::Func gated;  // the weights times the gate; the weights themselves if there is none
  Halide::RDom keys;   // of a block
  bool has_gate() const { return gated.name() != weights.name(); }
};

// The product of weights and values of a block.
struct attention_product {
  Halide::Func values;  // (c, j, b, outer of V...): V, padded when its width is run-time
  bool is_padded = false;
  // True for blocks of V that hold anything but finite numbers. Defined if a mask hides some.
  Halide::Func suspect, suspect_columns;
  Halide::RDom all_columns;
  Halide::Func sum, block_out;            // (c, i, b, T, outer...)
  Halide::RDom keys_clean, keys_suspect;  // of a block, by what its values hold
};

// The running state, from block to block.
struct attention_state {
  bool has_maximum = true;  // softmax; false: weights are summed as they are
  int rows = 4;             // before those of o: alpha, beta, m, l; or l alone
  Halide::Func state;       // (layout.vars..., T, outer...)
  state_layout layout;
  Halide::RDom steps;           // of the layout: x, y, block; or cell, block
  Halide::Expr columns, width;  // extent of c; of x
};

struct attention_result {
  Halide::Func out;  // its rows trigger the tiles
  Halide::Var row{"row"}, column{"column"};
  std::vector<Halide::Var> outer;  // innermost first
  bool has_row = true, has_column = true;
  std::vector<Halide::Func> copies;  // of (o, lse) when both are stored
};

// Every Func of the stage, for a schedule to place.
struct attention_funcs {
  attention_tile tile;
  attention_vars v;
  attention_reads reads;
  attention_pairs pairs;
  attention_product product;
  attention_state running;
  attention_result result;
};

}  // namespace qkv::codegen
