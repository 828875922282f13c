// SPDX-License-Identifier: BSL-1.0
// Contraction on GPUs: a block has the machine's contraction_rows and one panel of columns, each
// thread contraction_tile x contraction_tile sums in registers.
#include "codegen/halide/schedules/gpu.hpp"
#include "codegen/halide/schedules/schedules.hpp"

namespace qkv::codegen {

using Halide::Func;
using Halide::MemoryType;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

void schedule_contraction_gpu(contraction_funcs &f, const machine &m) {
  const int tile = m.gpu.contraction_tile, block_rows = m.contraction_rows;
  Func &out = f.out;
  out.compute_root();
  Var cb("column_block"), ci("ci"), tx("thread_x"), c("c"), rb("row_block"), ri("ri"),
      ty("thread_y"), r("r");
  std::vector<VarOrRVar> order;
  std::vector<Var> threads, grid;
  out.split(f.column, cb, ci, f.panel, TailStrategy::GuardWithIf).split(ci, tx, c, tile).unroll(c);
  order.emplace_back(c);
  threads.push_back(tx);
  grid.push_back(cb);
  if (f.has_row) {
    out.split(f.row, rb, ri, block_rows, TailStrategy::GuardWithIf)
        .split(ri, ty, r, tile)
        .unroll(r);
    order.emplace_back(r);
    threads.push_back(ty);
    grid.push_back(rb);
  }
  grid.insert(grid.end(), f.outer.begin(), f.outer.end());
  for (const Var &v : threads) order.emplace_back(v);
  for (const Var &v : grid) order.emplace_back(v);
  out.reorder(order);
  if (threads.size() == 2) out.gpu_threads(threads[0], threads[1]);
  if (threads.size() == 1) out.gpu_threads(threads[0]);
  gpu::grid(out, grid);

  f.sum.compute_at(out, tx).store_in(MemoryType::Register);
  f.sum.bound_extent(f.column, tile)
      .bound_extent(f.row, f.has_row ? tile : 1)
      .vectorize(f.column)
      .unroll(f.row);
  for (const Var &v : f.outer) f.sum.bound_extent(v, 1);
  std::vector<VarOrRVar> inner = {f.column, f.row};
  for (const Halide::RVar &v : f.over) inner.emplace_back(v);
  f.sum.update().reorder(inner).unroll(f.row);
  // Halide 21 loads four numbers with a stride of three as one vector of twelve, which OpenCL
  // lacks. It knows the strides of Funcs, not those of inputs.
  const bool near = !f.packed.defined() || !gpu::reads_stored(f.packed);
  if (near && gpu::fits_vectors(f.sum) && (!f.packed.defined() || gpu::fits_vectors(f.packed)))
    f.sum.update().vectorize(f.column);
  else
    f.sum.update().unroll(f.column);
  if (const int n = gpu::vector_width(gpu::extent_of(f.sum, f.over[0]), m.gpu); n > 1)
    f.sum.update().unroll(f.over[0], n);
}

}  // namespace qkv::codegen
