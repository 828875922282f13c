// SPDX-License-Identifier: BSL-1.0
// Scans on CPUs: columns of the table in lanes and in parallel, positions in order, each phase a
// loop of its own.
#include "codegen/halide/schedules/schedules.hpp"
#include "codegen/halide/schedules/tasks.hpp"

namespace qkv::codegen {

using Halide::TailStrategy;
using Halide::Var;

void schedule_scan_cpu(scan_funcs &f, const machine &m, const std::vector<bool> &is_output) {
  const int vl = m.cpu.lanes(f.table.types()[0].bits());
  Var chunk("chunk"), lane("lane_of_chunk");
  f.table.compute_root();
  if (f.has_lane) f.table.vectorize(f.lane, vl, TailStrategy::GuardWithIf);
  parallel_tasks(f.table, f.around);

  auto update = f.table.update();
  std::vector<Halide::VarOrRVar> order;
  if (f.has_lane) {
    update.split(f.lane, chunk, lane, vl, TailStrategy::GuardWithIf);
    order.emplace_back(lane);
  }
  for (const Halide::RVar &v : {f.steps.x, f.steps.y, f.steps.z}) order.emplace_back(v);
  std::vector<Var> columns;
  if (f.has_lane) columns.push_back(chunk);
  columns.insert(columns.end(), f.around.begin(), f.around.end());
  for (const Var &v : columns) order.emplace_back(v);
  update.reorder(order).unroll(f.steps.y);
  if (f.has_lane) update.vectorize(lane);
  for (const Var &task : fused(update, columns)) update.parallel(task);

  for (std::size_t k = 0; k < f.outputs.size(); ++k) {
    scan_funcs::output &o = f.outputs[k];
    if (!is_output[k]) o.out.compute_root();
    if (o.position.empty()) continue;
    o.out.vectorize(o.position.front(), vl, TailStrategy::GuardWithIf);
    if (o.position.size() > 1) o.out.parallel(o.position.back());
  }
}

}  // namespace qkv::codegen
