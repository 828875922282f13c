// SPDX-License-Identifier: BSL-1.0
// Contraction on CPUs: a block of rows stays in cache while all panels of columns pass by.
//   for each block of rows, for each panel      parallel
//     for each group of rows: sums in registers over all of k
#include <numeric>

#include "codegen/halide/schedules/schedules.hpp"
#include "codegen/halide/schedules/tasks.hpp"

namespace qkv::codegen {

using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

namespace {

// Of a register tile, which divides the vectors of a panel.
int vectors_of(const cpu_tiles &m, int panel) {
  for (const int n : m.contraction_vectors)
    if (panel % n == 0) return n;
  return 1;
}

}  // namespace

int rows_of_tile(const contraction_funcs &f, const machine &m) {
  const int vl = m.cpu.lanes(f.sum.type().bits());
  return f.has_row ? std::max(1, m.cpu.sum_registers / vectors_of(m.cpu, f.panel / vl)) : 1;
}

void schedule_contraction_cpu(contraction_funcs &f, const machine &m, bool is_output) {
  const int vl = m.cpu.lanes(f.sum.type().bits());
  const int tile = vl * vectors_of(m.cpu, f.panel / vl);
  const int rows = rows_of_tile(f, m);
  Var no("no"), ni("ni"), so("so"), si("si"), block("block"), inner("inner");

  Func &out = f.out;
  if (!is_output) out.compute_root();
  std::vector<VarOrRVar> order;
  std::vector<Var> parallel;
  out.split(f.column, no, ni, tile, TailStrategy::GuardWithIf);
  order.emplace_back(ni);
  parallel.push_back(no);
  Var at_row = so;
  if (f.has_row) {
    const int per_block = std::max(1, m.contraction_rows / rows);
    out.split(f.row, so, si, rows, TailStrategy::GuardWithIf);
    out.split(so, block, inner, per_block, TailStrategy::GuardWithIf);
    order.emplace_back(si);
    order.emplace_back(inner);
    parallel.push_back(block);
    at_row = inner;
  }
  std::vector<VarOrRVar> all = order;
  for (const Var &v : parallel) all.emplace_back(v);
  for (const Var &v : f.outer) all.emplace_back(v);
  if (all.size() > 1) out.reorder(all);
  parallel.insert(parallel.end(), f.outer.begin(), f.outer.end());
  Halide::LoopLevel at = parallel_tasks(out, parallel);
  out.vectorize(ni, vl).unroll(ni);
  if (f.has_row) {
    out.unroll(si);
    at = Halide::LoopLevel(out, at_row);
  }

  f.sum.compute_at(at)
      .bound_extent(f.column, tile)
      .bound_extent(f.row, rows)
      .vectorize(f.column, vl)
      .unroll(f.column)
      .unroll(f.row);
  std::vector<VarOrRVar> k = {f.column, f.row};
  for (const Halide::RVar &v : f.over) k.emplace_back(v);
  f.sum.update().reorder(k).vectorize(f.column, vl).unroll(f.column).unroll(f.row);

  // The rows of a register tile, for one tile of columns.
  if (f.left.defined())
    f.left.compute_at(at).vectorize(f.left.args().front(), vl, TailStrategy::GuardWithIf);
  if (f.packed.defined()) {
    f.packed.compute_root().bound(f.lane, 0, f.panel).vectorize(f.lane, vl);
    f.packed.parallel(f.packed.args().back());
  }
}

}  // namespace qkv::codegen
