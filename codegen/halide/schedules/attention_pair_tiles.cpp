// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/attention_pair_tiles.hpp"

namespace qkv::codegen {

using Halide::Func;
using Halide::LoopLevel;
using Halide::Partition;
using Halide::TailStrategy;
using Halide::Var;

namespace {

constexpr int beyond = 16;  // keys that the last vector may reach beyond those that are stored

// Rows lie side by side in memory: vectors of them are read as they are.
void in_vectors_of_rows(Func &g, const attention_funcs &f, int lanes, bool has_masks) {
  const Var io("io"), ii("ii");
  g.split(f.v.i, io, ii, lanes).reorder(ii, io, f.v.j).vectorize(ii).unroll(io);
  if (!has_masks) return;
  for (const Var &v : g.args())
    if (v.same_as(f.v.j) || v.same_as(f.v.T)) g.partition(v, Partition::Never);
}

// Squares, which a lowering pass transposes.
void in_squares(Func &g, const attention_funcs &f, int lanes, bool has_masks) {
  const Var io("io"), ii("ii"), jo("jo"), ji("ji");
  g.split(f.v.j, jo, ji, lanes, TailStrategy::RoundUp)
      .split(f.v.i, io, ii, lanes)
      .reorder(ii, ji, jo, io)
      .unroll(ii)
      .vectorize(ji);
  if (has_masks) g.partition(jo, Partition::Never);
}

}  // namespace

void in_vectors_of_keys(Func &g, const attention_funcs &f, const LoopLevel &tile, int lanes,
                        int stored_keys) {
  const Var jo("jo"), ji("ji");
  g.compute_at(tile)
      .bound_storage(f.v.i, f.tile.rows)
      .bound_storage(f.v.j, stored_keys)
      .reorder_storage(f.v.j, f.v.i)
      .split(f.v.j, jo, ji, lanes, TailStrategy::RoundUp)
      .vectorize(ji);
  // Rows of matrix tiles are many, and each is read as contiguous memory.
  f.tile.in_matrix_tiles ? g.reorder(ji, jo, f.v.i) : g.reorder(ji, f.v.i, jo);
}

void schedule_pair_tiles(attention_funcs &f, const machine &m, const LoopLevel &tile, int lanes,
                         int stored_keys) {
  const auto place = [&](Func &g, const auto &order) {
    const bool has_masks = m.has_masked_loads(g.type().bits());
    if (f.tile.keys_in_lanes()) {
      in_vectors_of_keys(g, f, tile, lanes, stored_keys + beyond);
      if (has_masks) g.partition(Var("jo"), Partition::Never);
      return;
    }
    g.compute_at(tile).bound_extent(f.v.i, f.tile.rows).bound_storage(f.v.j, stored_keys + beyond);
    order(g, f, lanes, has_masks);
  };
  for (Func &g : f.reads.pair_rows) place(g, in_vectors_of_rows);
  for (Func &g : f.reads.pair_tiles) place(g, in_squares);
}

}  // namespace qkv::codegen
