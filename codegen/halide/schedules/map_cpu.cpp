// Maps on CPUs: innermost axis in lanes, outermost in parallel; a reduction per position with 16 partial results.
#include "codegen/halide/schedules/schedules.hpp"

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

}  // namespace

void schedule_map_cpu(map_funcs &f, const machine &m, bool is_output) {
  const int vl = m.cpu.lanes(32);
  for (map_funcs::reduction &r : f.reductions) {
    r.result.compute_root();
    if (!r.position.empty()) {
      r.result.parallel(r.position.back());
      r.partial.compute_at(r.result, r.position.front());
    } else {
      r.partial.compute_root();
    }
    r.partial.bound(f.lane, 0, reduction_lanes).vectorize(f.lane, vl).unroll(f.lane);
    std::vector<Halide::VarOrRVar> order = {f.lane};
    for (const Halide::RVar &v : r.over) order.emplace_back(v);
    r.partial.update().reorder(order).vectorize(f.lane, vl).unroll(f.lane);
  }
  if (f.in_place.defined()) schedule_in_place(f, vl);
  if (!is_output) f.out.compute_root();
  if (f.position.empty()) return;
  f.out.vectorize(f.position.front(), vl, TailStrategy::GuardWithIf);
  if (f.position.size() > 1) f.out.parallel(f.position.back());
}

}  // namespace qkv::codegen
