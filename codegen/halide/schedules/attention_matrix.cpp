// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/attention_matrix.hpp"

#include "codegen/halide/schedules/matrix_tiles.hpp"
#include "codegen/machines/machine.hpp"

namespace qkv::codegen::matrix_products {

using Halide::Func;
using Halide::LoopLevel;
using Halide::TailStrategy;
using Halide::Var;

namespace {

// Four tiles of sums share their operands, where there are as many.
int registers(int n) { return n % (2 * matrix_side) == 0 ? 2 * matrix_side : matrix_side; }

}  // namespace

void scores(Func &s, attention_funcs &f, const std::vector<Halide::RVar> &features,
            const LoopLevel &tile, int lanes) {
  const Var io("io"), jo("jo"), row(matrix_loops::row), column(matrix_loops::first),
      zero(matrix_loops::zero), none("none");
  s.compute_at(tile)
      .bound_extent(f.v.i, f.tile.rows)
      .bound_storage(f.v.j, f.tile.keys)
      .reorder_storage(f.v.j, f.v.i)
      .split(f.v.j, none, f.v.j, lanes, TailStrategy::RoundUp)
      .vectorize(f.v.j)
      .split(f.v.i, io, zero, matrix_side)
      .reorder(f.v.j, none, zero, io);
  s.update()
      .split(f.v.i, io, row, registers(f.tile.rows))
      .split(f.v.j, jo, column, registers(f.tile.keys), TailStrategy::RoundUp)
      .reorder({features[0], features[1], column, row, io, jo});
}

void keys(attention_funcs &f, const LoopLevel &block, int lanes) {
  for (Func &k : f.reads.key_pairs) {
    const Var two = k.args()[2], to("to"), ti("ti"), jo("jo"), ji("ji");
    k.compute_at(block)
        .bound_extent(f.v.half, 2)
        .bound_extent(f.v.j, f.tile.keys)
        .split(two, to, ti, lanes, TailStrategy::RoundUp)
        .split(f.v.j, jo, ji, lanes)
        .reorder(f.v.half, ti, ji, to, jo)
        .unroll(ji)
        .vectorize(f.v.half)
        .vectorize(ti);
  }
}

void sum(attention_sum &sum, const attention_funcs &f, const LoopLevel &tile, int columns,
         int lanes) {
  const Var io("io"), co("co"), jo("jo"), ji("ji"), row(matrix_loops::row),
      column(matrix_loops::column);
  sum.halves.compute_at(tile)
      .bound_extent(f.v.half, 2)
      .bound_extent(f.v.i, f.tile.rows)
      .bound_storage(f.v.j, f.tile.keys / 2)
      .reorder_storage(f.v.half, f.v.j, f.v.i)
      .split(f.v.j, jo, ji, lanes, TailStrategy::RoundUp)
      .reorder(f.v.half, ji, jo, f.v.i)
      .vectorize(f.v.half)
      .vectorize(ji);
  sum.product.compute_at(tile)
      .bound_extent(f.v.i, f.tile.rows)
      .bound_extent(f.v.c, columns)
      .vectorize(f.v.c, lanes);
  sum.product.update(0)
      .split(f.v.i, io, row, registers(f.tile.rows))
      .split(f.v.c, co, column, registers(columns))
      .reorder({sum.keys_clean.x, sum.keys_clean.y, column, row, io, co, sum.keys_clean.z});
}

}  // namespace qkv::codegen::matrix_products
