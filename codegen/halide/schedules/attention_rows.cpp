// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/attention_rows.hpp"

namespace qkv::codegen {
namespace {

using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

class row_scheduler {
 public:
  row_scheduler(attention_funcs &f, const Halide::LoopLevel &task, int lanes)
      : f_(f), task_(task), lanes_(lanes) {}

  void run() {
    for (Func &g : f_.reads.row_positions) in_task(g);
    for (Func &q : f_.reads.row_pairs) {
      in_task(q);
      q.bound_extent(f_.v.half, 2);
      const Var two = q.args()[2];
      if (f_.tile.keys_in_lanes())
        q.reorder_storage(f_.v.half, two, f_.v.i)
            .reorder(f_.v.half, two, f_.v.i)
            .vectorize(f_.v.half)
            .vectorize(two, f_.tile.in_matrix_tiles ? lanes_ : f_.tile.feature_lanes);
      else
        transposed(q, two, {f_.v.half});
    }
    for (Func &q : f_.reads.row_tiles) row_tile(q);
  }

 private:
  void in_task(Func &g) {
    g.compute_at(task_);
    f_.tile.keys_in_lanes() && !f_.tile.in_matrix_tiles ? g.bound_storage(f_.v.i, f_.tile.rows)
                                                        : g.bound_extent(f_.v.i, f_.tile.rows);
  }

  void row_tile(Func &q) {
    in_task(q);
    const bool has_feature = q.args().size() > 2 + f_.v.outer.size();
    if (has_feature && f_.tile.keys_in_lanes())
      q.reorder_storage(q.args()[1], f_.v.i)
          .reorder(q.args()[1], f_.v.i)
          .vectorize(q.args()[1], lanes_, TailStrategy::GuardWithIf);
    else if (has_feature)
      transposed(q, q.args()[1], {});
    else if (!f_.tile.keys_in_lanes())
      q.vectorize(f_.v.i, lanes_);
  }

  // Loads are contiguous along a feature. A lowering pass transposes squares of at least 4 x 4
  // numbers; where there are none, each number is stored by itself, at half the cost of gathers.
  // `inner`: halves of what moves.
  void transposed(Func &q, const Var &feature, const std::vector<Var> &inner) {
    const Var io("io"), ii("ii"), jo("jo"), ji("ji");
    const auto known = f_.reads.features.find(q.name());
    const int side = known == f_.reads.features.end() ? 1 : lanes_dividing(known->second, lanes_);
    constexpr int least = 4;
    const bool is_square = side >= least;
    std::vector<Halide::VarOrRVar> order(inner.begin(), inner.end());
    order.insert(order.end(), {ji, ii, jo, io});
    q.split(feature, jo, ji, is_square ? side : lanes_, TailStrategy::GuardWithIf)
        .split(f_.v.i, io, ii, is_square ? side : least)
        .reorder(order)
        .unroll(ii);
    for (const Var &v : inner) q.vectorize(v);
    q.vectorize(ji);
  }

  attention_funcs &f_;
  const Halide::LoopLevel &task_;
  const int lanes_;
};

}  // namespace

void schedule_rows(attention_funcs &f, const Halide::LoopLevel &task, int lanes) {
  row_scheduler(f, task, lanes).run();
}

}  // namespace qkv::codegen
