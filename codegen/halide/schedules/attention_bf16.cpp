// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/attention_bf16.hpp"

namespace qkv::codegen::bf16_products {

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

void sum(attention_sum &sum, const attention_vars &v, const Halide::LoopLevel &tile, int rows,
         int column_lanes, int lanes) {
  const Var co("co"), ci("ci");
  sum.product.update(0)
      .split(v.c, co, ci, column_lanes)
      .reorder({sum.keys_clean.x, ci, co, v.i, sum.keys_clean.y})
      .atomic()
      .vectorize(sum.keys_clean.x)
      .vectorize(ci)
      .unroll(co)
      .unroll(v.i);
  sum.halves.compute_at(tile)
      .bound_extent(v.half, 2)
      .bound_extent(v.i, rows)
      .unroll(v.half)
      .vectorize(v.i, lanes)
      .unroll(v.i);
}

void values(attention_sum &sum, const attention_vars &v, const Halide::LoopLevel &block,
            int columns, int lanes) {
  sum.values.compute_at(block)
      .bound_extent(v.half, 2)
      .bound_extent(v.c, columns)
      .vectorize(v.c, lanes_dividing(columns, lanes))
      .unroll(v.half)
      .unroll(v.c);
}

}  // namespace qkv::codegen::bf16_products
