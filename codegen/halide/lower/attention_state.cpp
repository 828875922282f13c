// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include "codegen/halide/lower/attention_results.hpp"
#include "codegen/halide/lower/attention_sums.hpp"
#include "codegen/halide/lower/in_step.hpp"
#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/skip_bodies.hpp"
#include "codegen/halide/lower/visible_blocks.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::select;
using Halide::Internal::is_const;

constexpr int whole_vectors = 16;  // at least so many lanes

// One Func, so that its memory does not grow with the keys: for each row the statistics (alpha,
// beta, m, l) or (l) or none, then the sums without columns, then o of each sum with columns.
class state_lowering {
 public:
  explicit state_lowering(attention_form &a) : a_(a), f_(a.f) {}

  void run() {
    f_.running.first_sum = f_.running.has_maximum ? 4 : a_.s.is_normalised() ? 1 : 0;
    f_.running.statistics = f_.running.first_sum;
    for (attention_sum &sum : f_.sums) (sum.has_columns() ? with_ : without_).push_back(&sum);
    f_.running.statistics += static_cast<int>(without_.size());
    if (f_.tile.one_block) {
      for (attention_sum *sum : with_) width_with(*sum, 0);
      f_.running.sums_own_rows = true;
      return;
    }
    f_.running.sums_own_rows = !f_.tile.keys_in_lanes() && !a_.on_threads() && with_.size() == 1;
    lay_out();
    skip_blocks();
    if (f_.running.has_maximum)
      merge_rescaled();
    else
      add();
  }

 private:
  const state_layout &layout() const { return f_.running.layout; }

  void lay_out() {
    const Expr blocks = (a_.keys + f_.tile.keys - 1) / f_.tile.keys;
    if (a_.on_threads()) {
      f_.running.layout = threads_layout(f_.tile.threads.columns, f_.running.statistics,
                                         static_cast<int>(with_.size()), blocks);
    } else {
      std::vector<Expr> columns;
      Expr width = std::max(f_.tile.rows, whole_vectors);
      for (attention_sum *sum : with_) {
        width = width_with(*sum, width);
        columns.push_back(sum->columns);
      }
      f_.running.width = Halide::Internal::simplify(width);
      f_.running.layout = lanes_layout(Expr(f_.tile.rows), last_row(), f_.running.statistics,
                                       columns, f_.running.width, blocks);
      f_.v.x = layout().vars[0], f_.v.y = layout().vars[1];
    }
    f_.running.steps = layout().steps;
  }

  // Of this tile, for which values are added up.
  Expr last_row() const {
    const Expr last = f_.tile.rows - 1;
    if (!f_.result.has_row || !f_.running.sums_own_rows) return last;
    return Halide::max(Halide::min(a_.rows - f_.v.T * f_.tile.rows - 1, last), 0);
  }

  // Blocks of keys that the mask removes for the whole tile are not visited.
  void skip_blocks() {
    const key_range seen = a_.on_threads() ? in_step(a_.block.visible()) : a_.block.visible();
    Halide::RDom &steps = f_.running.layout.steps;
    const Expr first = layout().block * f_.tile.keys;
    if (seen.to.defined()) steps.where(first < seen.to);
    if (seen.from.defined()) steps.where(first + f_.tile.keys > seen.from);
    if (const Expr may = may_see(a_, f_.v.T, layout().block); may.defined())
      steps.where(of_whole_body(may));
    if (a_.on_threads()) return;
    skip_lanes();
    if (!f_.result.has_row) return;
    steps.where(f_.v.T * f_.tile.rows < a_.rows);
    if (f_.running.sums_own_rows) steps.where(steps.y - f_.running.statistics <= last_row());
  }

  // Statistics of rows have as many lanes as the tile has rows, in whole vectors.
  void skip_lanes() {
    if (f_.running.statistics == 0 || with_.empty() || !is_const(f_.running.width)) return;
    Halide::RDom &steps = f_.running.layout.steps;
    steps.where(Halide::likely(steps.y >= f_.running.statistics) ||
                steps.x < std::max(f_.tile.rows, whole_vectors));
  }

  Halide::FuncRef at(state_layout::coordinates where) const {
    where.push_back(f_.v.T);
    return f_.running.state(a_.tiles.with_outer(std::move(where)));
  }
  Expr statistic(int k, const Expr &row) const {
    return at(layout().statistic_at(k, row, layout().column));
  }
  Expr of_block(const Func &g) const {
    return g(a_.tiles.in_tile({layout().row}, layout().block, f_.v.T));
  }

  // The block's value of the sum that the cell belongs to.
  Expr value_of_block() const {
    Expr all;
    for (std::size_t k = with_.size(); k-- > 0;) {
      const state_layout::values &cells = layout().sums[k];
      const Expr o =
          with_[k]->block_out(a_.tiles.in_tile({cells.column, cells.row}, layout().block, f_.v.T));
      all = all.defined() ? select(layout().sum <= static_cast<int>(k), o, all) : o;
    }
    return all;
  }

  // Of the statistics from `first` on: l and the sums without columns of the block.
  Expr added_statistic() const {
    std::vector<Expr> added;
    if (a_.s.is_normalised()) added.push_back(of_block(f_.pairs.block_sum));
    for (const attention_sum *sum : without_) added.push_back(of_block(sum->block_out));
    const int first = f_.running.statistics - static_cast<int>(added.size());
    Expr all;
    for (std::size_t k = added.size(); k-- > 0;)
      all = all.defined() ? select(layout().statistic == first + static_cast<int>(k), added[k], all)
                          : added[k];
    return all;
  }

  state_layout::coordinates all() const { return {layout().vars.begin(), layout().vars.end()}; }

  void add() {
    const Expr o = value_of_block(), l = added_statistic();
    at(all()) = a_.number(0);
    Expr added = o.defined() ? o : l;
    if (o.defined() && l.defined()) added = select(layout().is_value, Halide::likely(o), l);
    at(layout().cell) = at(layout().cell) + added;
  }

  void merge_rescaled() {
    const state_layout &y = layout();
    at(all()) = select(y.statistic_var == 2, a_.levels.nothing_seen(), a_.number(0));
    const Expr old = statistic(2, y.lane_row), now = of_block(f_.pairs.block_max),
               m = Halide::max(old, now), shift = a_.levels.shift_of(m), o = value_of_block();
    const Expr statistics = select(
        y.statistic == 0, math::exp_nonpositive(old - shift), y.statistic == 1,
        math::exp_nonpositive(now - shift), y.statistic == 2, m,
        sum_before(y) * statistic(0, y.lane_row) + added_statistic() * statistic(1, y.lane_row));
    if (!o.defined()) {
      at(y.cell) = statistics;
      return;
    }
    at(y.cell) = select(
        y.is_value,
        Halide::likely(at(y.cell) * statistic(0, y.value_row) + o * statistic(1, y.value_row)),
        statistics);
  }

  // The statistic of the cell, read as such: l, or a sum without columns.
  Expr sum_before(const state_layout &y) const {
    return without_.empty() ? statistic(3, y.lane_row) : Expr(at(y.cell));
  }

  attention_form &a_;
  attention_funcs &f_;
  std::vector<attention_sum *> with_, without_;  // columns
};

}  // namespace

void lower_state(attention_form &a) { state_lowering(a).run(); }

}  // namespace qkv::codegen
