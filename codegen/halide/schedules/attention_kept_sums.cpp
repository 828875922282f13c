// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/attention_kept_sums.hpp"

namespace qkv::codegen {
namespace {

using Halide::Func;
using Halide::Partition;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

class kept_sums {
 public:
  kept_sums(attention_funcs &f, int lanes) : f_(f), lanes_(lanes) {}

  // The walk of all parts, then the copies of its sums to several results, which share the loops
  // over the other axes. These are not fused: bounds inference knows no single position then.
  Halide::LoopLevel run() {
    std::size_t k = 0;
    for (const attention_sum &sum : f_.sums) copy(k++, true, sum.has_columns());
    for (const attention_sum &sum : f_.across) copy(k++, true, sum.has_columns());
    while (k < f_.result.copies.size()) copy(k++, false, true);
    return merge();
  }

 private:
  void copy(std::size_t k, bool has_rows, bool has_columns) {
    attention_result &r = f_.result;
    Func &g = r.copies[k];
    std::vector<Halide::VarOrRVar> order;
    if (has_columns) order.emplace_back(r.column);
    if (has_rows) order.emplace_back(r.row);
    order.insert(order.end(), f_.v.outer.begin(), f_.v.outer.end());
    g.reorder(order);
    const bool in_lanes = has_rows && has_columns;
    if (in_lanes) g.vectorize(r.column, lanes_, TailStrategy::GuardWithIf);
    for (const Var &v : f_.v.outer)
      if (!r.is_in_turns(v)) g.parallel(v);
    if (!f_.v.outer.empty() && k > 0) g.compute_with(r.copies[0], f_.v.outer[0]);
    if (k < f_.sums.size()) return;
    Func &whole = r.whole[k - f_.sums.size()];
    whole.compute_at(g, has_rows ? r.row : r.column);
    if (!in_lanes) return;
    whole.vectorize(r.column, lanes_, TailStrategy::GuardWithIf);
    whole.update().vectorize(r.column, lanes_, TailStrategy::GuardWithIf);
  }

  Halide::LoopLevel merge() {
    const attention_result &r = f_.result;
    Func &state = f_.running.state;
    if (f_.v.outer.empty())
      state.compute_root();
    else
      state.compute_at(r.copies[0], f_.v.outer[0]);
    state.bound(f_.v.x, 0, f_.running.width).vectorize(f_.v.x, lanes_).parallel(r.part);
    const RVar rx = f_.running.steps.x, ry = f_.running.steps.y, tile = f_.running.steps.z,
               block = f_.running.steps.w;
    std::vector<Halide::VarOrRVar> order = {rx, ry, tile, block, r.part};
    order.insert(order.end(), f_.v.outer.begin(), f_.v.outer.end());
    Halide::Stage merge = state.update();
    merge.allow_race_conditions()
        .partition(ry, Partition::Always)
        .partition(tile, Partition::Never)
        .partition(block, Partition::Never)
        .reorder(order)
        .vectorize(rx, lanes_)
        .parallel(r.part);
    if (Halide::Internal::is_const(f_.running.width)) merge.unroll(rx);
    return {state, r.part};
  }

  attention_funcs &f_;
  const int lanes_;
};

}  // namespace

Halide::LoopLevel schedule_kept_sums(attention_funcs &f, int lanes) {
  return kept_sums(f, lanes).run();
}

}  // namespace qkv::codegen
