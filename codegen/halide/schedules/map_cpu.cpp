// SPDX-License-Identifier: BSL-1.0
// Maps on CPUs: innermost axis in lanes, outermost in parallel; a reduction per position with 16
// partial results, which lie in the lanes of vectors where its elements are neighbours in memory.
#include "codegen/halide/schedules/schedules.hpp"
#include "codegen/halide/schedules/tasks.hpp"

namespace qkv::codegen {

using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

namespace {

// Steps in order, everything else in lanes and in parallel.
void schedule_in_place(map_funcs &f, int vl) {
  f.in_place.compute_root().vectorize(f.position.front(), vl, TailStrategy::GuardWithIf);
  std::vector<Var> others;
  for (const Var &v : f.position)
    if (v.name() != f.along.name()) others.push_back(v);
  if (others.empty()) {
    f.in_place.update().unscheduled();
    return;
  }
  // Columns of a task: its walk over the steps fills a line of the cache in each row.
  const Var columns("columns");
  std::vector<Halide::VarOrRVar> order = {others.front()};
  order.insert(order.end(), f.steps.begin(), f.steps.end());
  order.emplace_back(columns);
  order.insert(order.end(), others.begin() + 1, others.end());
  f.in_place.update()
      .split(others.front(), columns, others.front(), 2 * vl, TailStrategy::GuardWithIf)
      .reorder(order)
      .vectorize(others.front(), vl, TailStrategy::GuardWithIf)
      .parallel(others.size() > 1 ? others.back() : columns);
}

// Blocks of so many positions along one axis are tasks, as are all positions along those outside of
// it. Returns the loop over the tasks.
Var tasks_of(Halide::Func &f, const std::vector<Var> &position, std::size_t along, int positions) {
  const Var block("block"), &inner = position[along];
  f.split(inner, block, inner, positions, TailStrategy::GuardWithIf);
  std::vector<Var> loops = {block};
  loops.insert(loops.end(), position.begin() + static_cast<std::ptrdiff_t>(along) + 1,
               position.end());
  const std::vector<Var> task = fused(f, loops);
  f.parallel(task[0]);
  return task[0];
}

// Sixteen elements in lanes. The sums of a task's rows overlap: each waits for its last addition.
void schedule_over_elements(const map_funcs &f, map_funcs::reduction &r, const cpu_tiles &m) {
  const int vl = m.lanes(32);
  if (r.position.empty()) {
    r.partial.compute_root();
  } else {
    tasks_of(r.result, r.position, 0, m.map_rows);
    r.partial.compute_at(r.result, r.position.front());
  }
  r.partial.bound(f.lane, 0, reduction_lanes).vectorize(f.lane, vl).unroll(f.lane);
  std::vector<Halide::VarOrRVar> order = {f.lane};
  for (const Halide::RVar &v : r.over) order.emplace_back(v);
  r.partial.update().reorder(order).vectorize(f.lane, vl).unroll(f.lane);
}

// Neighbouring positions in lanes, one partial result after the other.
void schedule_over_rows(const map_funcs &f, map_funcs::reduction &r, const cpu_tiles &m) {
  const int vl = m.lanes(32);
  const Var column = r.position.front();
  std::vector<Halide::VarOrRVar> order = {column, f.lane};
  for (const Halide::RVar &v : r.over) order.emplace_back(v);
  const Var task = tasks_of(r.result, r.position, 0, m.map_vectors * vl);
  r.result.vectorize(column, vl, TailStrategy::GuardWithIf);
  r.partial.compute_at(r.result, task)
      .reorder_storage(column, f.lane)
      .bound(f.lane, 0, reduction_lanes)
      .reorder(column, f.lane)
      .vectorize(column, vl, TailStrategy::GuardWithIf)
      .unroll(f.lane);
  r.partial.update().reorder(order).vectorize(column, vl, TailStrategy::GuardWithIf).unroll(f.lane);
}

}  // namespace

void schedule_map_cpu(map_funcs &f, const machine &m, bool is_output) {
  const int vl = m.cpu.lanes(32);
  for (map_funcs::reduction &r : f.reductions) {
    r.result.compute_root();
    if (r.over_rows)
      schedule_over_rows(f, r, m.cpu);
    else
      schedule_over_elements(f, r, m.cpu);
  }
  if (f.in_place.defined()) schedule_in_place(f, vl);
  if (!is_output) f.out.compute_root();
  if (f.position.empty()) return;
  if (f.position.size() > 1) tasks_of(f.out, f.position, 1, m.cpu.map_rows);
  f.out.vectorize(f.position.front(), vl, TailStrategy::GuardWithIf);
}

}  // namespace qkv::codegen
