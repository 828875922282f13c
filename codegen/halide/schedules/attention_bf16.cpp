// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/attention_bf16.hpp"

namespace qkv::codegen::bf16_products {

using Halide::LoopLevel;
using Halide::TailStrategy;
using Halide::Var;

void product(Halide::Stage s, const attention_vars &v, const std::vector<Halide::RVar> &features,
             int lanes) {
  const Var io("io"), ii("ii");
  s.split(v.i, io, ii, lanes)
      .reorder({features[0], ii, io, v.j, features[1]})
      .atomic()
      .vectorize(features[0])
      .vectorize(ii)
      .unroll(io)
      .unroll(v.j);
}

void product_in_lanes(Halide::Stage s, const attention_vars &v,
                      const std::vector<Halide::RVar> &features) {
  s.reorder({features[0], v.lane, v.i, features[1]})
      .atomic()
      .vectorize(features[0])
      .vectorize(v.lane)
      .unroll(v.i);
}

namespace {

// Weights of a row lie beside each other; values are interleaved where they are read, once.
void keys_in_lanes(attention_sum &sum, const attention_funcs &f, const LoopLevel &tile,
                   int column_lanes, int lanes) {
  const Var jo("jo"), ji("ji");
  sum.halves.compute_at(tile)
      .bound_extent(f.v.half, 2)
      .bound_storage(f.v.i, f.tile.rows)
      .bound_storage(f.v.j, f.tile.keys / 2 + lanes)
      .reorder_storage(f.v.half, f.v.j, f.v.i)
      .split(f.v.j, jo, ji, lanes, TailStrategy::RoundUp)
      .reorder(f.v.half, ji, f.v.i, jo)
      .vectorize(f.v.half)
      .vectorize(ji);
  sum.value_halves.compute_at(sum.product, sum.keys_clean.y)
      .bound_extent(f.v.half, 2)
      .vectorize(f.v.c, column_lanes)
      .unroll(f.v.half)
      .unroll(f.v.c);
}

}  // namespace

void sum(attention_sum &sum, const attention_funcs &f, const LoopLevel &tile,
         const register_tile &t, int lanes) {
  const Var co("co"), ci("ci");
  sum.product.update(0)
      .split(f.v.c, co, ci, t.lanes)
      .reorder({sum.keys_clean.x, ci, co, f.v.i, sum.keys_clean.y})
      .atomic()
      .vectorize(sum.keys_clean.x)
      .vectorize(ci)
      .unroll(co)
      .unroll(f.v.i);
  if (f.tile.keys_in_lanes()) return keys_in_lanes(sum, f, tile, t.lanes, lanes);
  sum.halves.compute_at(tile)
      .bound_extent(f.v.half, 2)
      .bound_extent(f.v.i, f.tile.rows)
      .unroll(f.v.half)
      .vectorize(f.v.i, lanes)
      .unroll(f.v.i);
}

void values(attention_sum &sum, const attention_vars &v, const LoopLevel &block, int columns,
            int lanes) {
  sum.value_halves.compute_at(block)
      .bound_extent(v.half, 2)
      .bound_extent(v.c, columns)
      .vectorize(v.c, lanes_dividing(columns, lanes))
      .unroll(v.half)
      .unroll(v.c);
}

}  // namespace qkv::codegen::bf16_products
