// SPDX-License-Identifier: BSL-1.0
#pragma once
// The Funcs of an attention stage, which the algorithm defines and a schedule places.
#include <Halide.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "codegen/halide/lower/context.hpp"
#include "codegen/halide/lower/lane_fold.hpp"
#include "codegen/halide/lower/state_layout.hpp"
#include "codegen/plan/on_machine/attention_tile.hpp"

namespace qkv::codegen {

struct attention_vars {
  Halide::Var i{"i"}, j{"j"};  // row and key of a tile
  // The block of keys and the tile of rows as dimensions, and their positions: the dimensions, or
  // what is known of them.
  Halide::Var b{"b"}, T{"T"};
  Halide::Expr block{b}, tile{T};
  Halide::Var c{"c"};          // column of the result
  Halide::Var x{"x"}, y{"y"};  // of the state, see its layout
  Halide::Var lane{"lane"};    // of a vector of features
  Halide::Var half{"half"};    // of two numbers of bf16
  // Innermost first: dimensions of tiles, none where a task reads its own position instead; and the
  // loops around a task, which are the same axes.
  std::vector<Halide::Var> outer, around;
};

// Names of pair tiles begin so: a lowering pass knows them by it.
inline const std::string pair_tile_prefix = "pair_tile__";

// Loops with this in their names are not prefetched: they read what another loop has read into a
// cache, or compute so little that hardware prefetches as fast as they read.
inline const std::string no_prefetch_name = "no_prefetch";

// Funcs whose arguments are given here as (.., b, T, outer...) have neither b nor outer axes as
// dimensions where the form is `in_loops`; and where it has one tile, no T, unless they are row
// tiles, row positions or the state.

// Copies of what the pairs are made of, tile by tile.
struct attention_reads {
  std::vector<Halide::Func> row_tiles;  // (i, features..., T, outer...): query rows, transposed
  std::vector<Halide::Func> row_pairs;  // those of bf16: (half, i, feature / 2, T, outer...)
  std::vector<Halide::Func> key_pairs;  // of matrix tiles: (half, j, feature / 2, b, outer...)
  // (i, j, b, T, outer...): read per query and key. Where queries lie side by side in memory, as
  // the keys of a gradient that has keys for rows, as they are; else transposed.
  std::vector<Halide::Func> pair_rows, pair_tiles;
  std::vector<Halide::Func> row_positions;  // (i, T): of rows along several axes
  std::vector<Halide::Func> key_tiles;  // (features..., j, b, outer of it...), up to the last key
  std::vector<Halide::Func> computed_keys;  // products, 16 bits that are widened, ..
  std::vector<Halide::Func> extremes;       // of what masks compare: of each tile or block
  std::map<std::string, int> features;      // known extents of the first one, by copies of rows
};

// (i, j, b, T, outer...): what sums read. Blocks: (i, b, T, outer...).
struct attention_pairs {
  std::vector<Halide::Func> products;               // one per contraction inside the pairs
  std::vector<lane_fold> lanes_of_products;         // where lanes hold features
  std::vector<std::vector<Halide::RVar>> features;  // what each product sums over, innermost first
  std::vector<Halide::Func> shared;                 // steps that several sums need
  std::vector<Halide::Func> readers;                // Funcs that may read products
  // Defined where softmax or normalize gives the weights; block_max for softmax alone. `weights`
  // are the scores themselves for normalize.
  Halide::Func scores, weights, block_max, block_sum;
  lane_fold lanes_of_max, lanes_of_sum;  // where lanes hold keys
  Halide::RDom keys;                     // of a block; vectors of them if lanes hold keys
};

// Blocks of values that hold anything but finite numbers. Defined if a mask hides some.
struct suspect_blocks {
  Halide::Func blocks, columns;
  Halide::RDom all_columns;
  Halide::RDom keys;  // of such a block
};

// A sum over the keys of pairs, or of products of pairs with values that have columns. One across
// is the same with rows and keys exchanged: i and T stand for j and b, and j and b for i and T.
struct attention_sum {
  Halide::Func pairs;   // (i, j, b, T, outer...)
  bool gated = false;   // `pairs` are the weights times a gate
  Halide::Func values;  // (c, j, b, outer of V...): V, padded to whole vectors
  // Of products of bf16, else undefined: the pairs as bf16, (half, i, j / 2, b, T, outer...), and
  // V, (half, c, j / 2, b, outer of V...).
  Halide::Func halves, value_halves;
  bool is_padded = false;  // the call decides its width
  int known_columns = 0;   // not 0: V has so many, and is padded
  bool is_copied = false;  // once a block, since memory has them in another form
  suspect_blocks suspect;
  Halide::Func product;    // (c, i, b, T, outer...), in registers but of matrix tiles
  Halide::Func block_out;  // the same, stored; without columns (i, b, T, outer...)
  // Of a block that is not suspect. x: keys; or x: halves, y: two keys, z: chunks.
  Halide::RDom keys_clean;
  Halide::Expr columns;  // extent of c; undefined without columns
  // Of a sum across without columns: so many partial sums of a key, each of every so many rows, lie
  // along c.
  int partials = 0;
  Halide::RDom rows_of_partial;
  bool has_columns() const { return columns.defined(); }
};

// A sum of pairs for each of the positions that they have. The rows of a vector are added at once
// where their positions are neighbours, or all the same.
struct attention_placed {
  Halide::Func pairs;            // (i, j, b, T, outer...)
  Halide::Func positions;        // the same
  Halide::Func breaks, changes;  // (v, j, b, T, outer...): rows of a vector that do not follow its
                                 // first row; that differ from it
  Halide::Func totals;           // the same: of the pairs of the vector
  Halide::RDom lanes;            // of a vector
  Halide::Func of_tile;          // (c, b, T, outer...): c counts positions
  Halide::RDom neighbours, same, others;  // (lane, v, j), (v, j) and (lane, v, j)
  Halide::Expr size;                      // positions
  Halide::Var vector{"vector"};
};

// The running state, from block to block.
struct attention_state {
  bool has_maximum = true;  // softmax; false: pairs are summed as they are
  int statistics = 0;       // alpha, beta, m, l; or l; or none; then the sums without columns
  int first_sum = 0;        // of the statistics
  // True if the last tile sums values for the rows that it has, not for all rows of a tile.
  bool sums_own_rows = false;
  Halide::Func state;  // (layout.vars..., T, outer...)
  state_layout layout;
  Halide::RDom steps;  // of the layout: x, y, block; or cell, block
  Halide::Expr width;  // extent of x, where rows lie in lanes
};

struct attention_result {
  Halide::Func out;  // its rows trigger the tiles
  Halide::Var row{"row"}, column{"column"};
  std::vector<Halide::Var> outer;  // innermost first
  bool has_row = true, has_column = true;
  std::vector<Halide::Func> copies;  // of the roots, if there are several; c is the column of `out`
  // Of a walk that keeps its sums: copies of sums for rows come first, then those for keys, then
  // those at positions. Each part of the rows has its own of the latter two, which add up to
  // `whole`.
  Halide::Var part{"part"};
  std::vector<Halide::Func> whole;
  std::vector<Halide::Func> at_pairs;  // results at each pair, see lower/pair_stores.hpp
  std::vector<Halide::Var> in_turns;   // outer axes along which these are summed: the last ones
  bool is_in_turns(const Halide::Var &v) const {
    return std::any_of(in_turns.begin(), in_turns.end(),
                       [&](const Halide::Var &turn) { return turn.same_as(v); });
  }
  const Halide::Var &column_of_out(const attention_vars &v) const {
    return copies.empty() ? column : v.c;
  }
};

// Every Func of one form of the stage, for a schedule to place. All forms have the same result.
struct attention_funcs {
  attention_tile tile;
  Halide::Expr is_taken;  // by this call, if no form before this one is; undefined: it is
  attention_vars v;
  attention_reads reads;
  attention_pairs pairs;
  std::vector<attention_sum> sums, across;
  std::vector<attention_placed> placed;
  attention_state running;
  attention_result result;
  // A CPU computes everything but the result in loops over tasks and blocks of keys: what is inside
  // them reads their positions. Else, positions are dimensions.
  bool in_loops = false;
  indices of_task;  // along each outer axis
  // There is one tile of rows: none of the Funcs that a loop over tiles contains has it as a
  // dimension.
  bool is_only_tile() const { return in_loops && tile.is_only_tile(); }
  bool keeps_sums() const { return !across.empty() || !placed.empty(); }
};

}  // namespace qkv::codegen
