// SPDX-License-Identifier: BSL-1.0
// The state of a task, lanes are columns:
//   for each tile of rows, for each sum over keys: its rows
//   for each block of keys, for each sum over rows: its keys
//   for each sum at positions: these, in lanes
// A sum over keys without columns has 16 rows in each row of the state; one over rows, 16 partial
// sums of a key.
#include "codegen/halide/lower/attention_kept_sums.hpp"

#include "codegen/halide/lower/attention_sums.hpp"
#include "codegen/halide/lower/skip_bodies.hpp"
#include "codegen/halide/lower/stored_step.hpp"
#include "codegen/halide/lower/unsolved.hpp"
#include "codegen/halide/lower/visible_blocks.hpp"
#include "codegen/machines/machine.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::select;
using Halide::Var;

class kept_sums_lowering {
 public:
  explicit kept_sums_lowering(attention_form &a)
      : a_(a),
        f_(a.f),
        s_(a.s),
        rows_(a.f.tile.rows),
        keys_(a.f.tile.keys),
        keys_of_block_(keys_ * static_cast<int>(a.f.across.size())) {
    for (const attention_sum &sum : f_.sums) {
      first_cell_.push_back(rows_of_tile_);
      rows_of_tile_ += sum.has_columns() ? rows_ : rows_ / rows_of_partials;
    }
  }

  void run() {
    divide();
    widen();
    merge();
    copies();
  }

 private:
  // The number of parts follows from the sizes of a call alone, as the bits of its results do.
  void divide() {
    const int least = f_.tile.least_tasks;
    Expr tasks = 1;
    for (axis_id x : a_.tiles.outer())
      if (!f_.result.is_in_turns(a_.c.var(x))) tasks = Halide::min(tasks * a_.c.extent(x), least);
    const Expr parts = (least + tasks - 1) / tasks,
               tiles = (Halide::max(a_.rows, 1) + rows_ - 1) / rows_;
    tiles_ = (tiles + parts - 1) / parts;
    parts_ = (tiles + tiles_ - 1) / tiles_;
    blocks_ = (a_.keys + keys_ - 1) / keys_;
    first_of_keys_ = tiles_ * rows_of_tile_;
  }

  // All sums have the width of the widest.
  void widen() {
    Expr width = rows_of_partials;
    for (std::vector<attention_sum> *sums : {&f_.sums, &f_.across})
      for (attention_sum &sum : *sums) width = width_with(sum, width);
    f_.running.width = Halide::Internal::simplify(width);
    for (const attention_placed &sum : f_.placed) {
      first_placed_.push_back(placed_cells_);
      placed_cells_ = Halide::Internal::simplify(placed_cells_ + cells_of(sum));
    }
  }
  Expr cells_of(const attention_placed &sum) const {
    return (sum.size + f_.running.width - 1) / f_.running.width;
  }

  // One step adds what a tile of rows and a block of keys give to the sums of both.
  void merge() {
    const Expr cells = Halide::Internal::simplify(rows_of_tile_ + keys_of_block_ + placed_cells_);
    RDom steps(0, f_.running.width, 0, cells, 0, tiles_, 0, blocks_, "step");
    const Expr column = steps.x, cell = steps.y, block = steps.w,
               tile = f_.result.part * tiles_ + steps.z;
    skip(steps, tile, block);
    f_.running.steps = steps;
    f_.running.layout.block = steps.w;
    f_.v.y = Var("y"), f_.v.x = Var("x");
    f_.running.state(place(f_.v.x, f_.v.y, f_.result.part)) = a_.number(0);
    const Expr of_key = cell - rows_of_tile_;
    Expr behind = first_of_keys_ + block * keys_of_block_ + of_key;
    if (!f_.placed.empty())
      behind = select(of_key < keys_of_block_, behind, first_of_placed() + of_key - keys_of_block_);
    const Expr to = select(of_key < 0, steps.z * rows_of_tile_ + cell, behind);
    const std::vector<Expr> at = place(column, to, f_.result.part);
    f_.running.state(at) = f_.running.state(at) + added(column, cell, block, tile);
  }

  // Halide would trim the loops by these conditions, for many seconds.
  void skip(RDom &steps, const Expr &tile, const Expr &block) {
    const auto of_tile = [&](const Expr &e) {
      return Halide::Internal::substitute(f_.v.T.name(), tile, e);
    };
    const key_range seen = a_.block.visible();
    const Expr first = block * keys_;
    Expr visible = may_see(a_, tile, block);
    if (seen.to.defined()) visible = both(visible, first < of_tile(seen.to));
    if (seen.from.defined()) visible = both(visible, first + keys_ > of_tile(seen.from));
    steps.where(of_whole_body(both(visible, tile * rows_ < a_.rows)));
  }

  // The part of this tile and block in the sum that the cell belongs to. likely(): the loop over
  // cells is cut after the first sum and before the last one.
  Expr added(const Expr &column, const Expr &cell, const Expr &block, const Expr &tile) const {
    std::vector<Expr> all, ends;  // of their cells
    const auto add = [&](const attention_sum &sum, int n, bool is_across) {
      const Expr first = ends.empty() ? Expr(0) : ends.back();
      const bool is_row_of_rows = !sum.has_columns() && !is_across;
      if (is_row_of_rows) n /= rows_of_partials;
      const Expr columns = sum.has_columns() ? sum.columns : Expr(rows_of_partials),
                 c = Halide::clamp(column, 0, columns - 1),
                 k = Halide::clamp(cell - first, 0, n - 1);
      all.push_back(sum.block_out(is_row_of_rows
                                      ? a_.tiles.in_tile({k * rows_of_partials + c}, block, tile)
                                      : a_.tiles.in_tile({c, k}, block, tile)));
      ends.push_back(Halide::Internal::simplify(first + n));
    };
    for (const attention_sum &sum : f_.sums) add(sum, rows_, false);
    for (const attention_sum &sum : f_.across) add(sum, keys_, true);
    for (const attention_placed &sum : f_.placed) {
      const Expr n = cells_of(sum), k = Halide::clamp(cell - ends.back(), 0, n - 1);
      all.push_back(sum.of_tile(a_.tiles.in_tile({k * f_.running.width + column}, block, tile)));
      ends.push_back(Halide::Internal::simplify(ends.back() + n));
    }
    const std::size_t last = all.size() - 1;
    if (last == 1) return select(cell < ends[0], all[0], Halide::likely(all[1]));
    Expr inner = Halide::likely(all[last - 1]);
    for (std::size_t k = last - 1; k-- > 1;) inner = select(cell < ends[k], all[k], inner);
    return select(cell < ends[0], all[0], cell >= ends[last - 1], all[last], inner);
  }

  std::vector<Expr> place(const Expr &x, const Expr &y, const Expr &part) const {
    return a_.tiles.with_outer({x, y, part});
  }

  void copies() {
    for (axis_id x : s_.outer) around_.emplace(x, a_.c.var(x));
    for (std::size_t d = s_.outer.size(); d-- > 0;)
      f_.result.outer.push_back(a_.c.var(s_.outer[d]));
    for (std::size_t k = 0; k < s_.sums.size(); ++k) for_rows(k);
    for (std::size_t k = 0; k < f_.across.size(); ++k) for_keys(k);
    for (std::size_t k = 0; k < f_.placed.size(); ++k) for_positions(k);
  }

  void for_rows(std::size_t k) {
    const Var row = f_.result.row;
    const bool has_columns = f_.sums[k].has_columns();
    const Expr tile = row / rows_, own = row % rows_,
               cell = has_columns ? own : own / rows_of_partials,
               x = has_columns ? Expr(f_.result.column) : own % rows_of_partials,
               y = tile % tiles_ * rows_of_tile_ + first_cell_[k] + cell;
    const Expr value = f_.running.state(place(x, y, tile / tiles_));
    f_.result.copies.push_back(stored(s_.sums[k], s_.row, value));
  }

  // The parts of the rows add up in their order.
  void for_keys(std::size_t k) {
    const weighted_sum &sum = s_.across[0].sums[k];
    const Var key = f_.result.row, column = f_.result.column;
    const Expr y =
        first_of_keys_ + key / keys_ * keys_of_block_ + static_cast<int>(k) * keys_ + key % keys_;
    Func whole("whole_" + context::label(a_.p, sum.core));
    std::vector<Expr> at = a_.tiles.with_outer({key});
    const bool has_columns = f_.across[k].has_columns();
    if (has_columns) at.insert(at.begin(), column);
    RDom parts(0, has_columns ? 1 : rows_of_partials, 0, parts_, "part_of_rows");
    whole(at) = a_.number(0);
    whole(at) += f_.running.state(place(has_columns ? Expr(column) : Expr(parts.x), y, parts.y));
    f_.result.whole.push_back(whole);
    f_.result.copies.push_back(stored(sum, s_.key, whole(at)));
  }

  void for_positions(std::size_t k) {
    const Var column = f_.result.column;
    const Expr from_end = f_.placed[k].size - 1 - column, width = f_.running.width;
    RDom parts(0, parts_, "part_of_rows");
    Func whole("whole_" + context::label(a_.p, s_.placed[k].core));
    const std::vector<Expr> at = a_.tiles.with_outer({column});
    whole(at) = a_.number(0);
    whole(at) += f_.running.state(
        place(from_end % width, first_of_placed() + first_placed_[k] + from_end / width, parts.x));
    f_.result.whole.push_back(whole);
    f_.result.copies.push_back(stored(s_.placed[k], no_axis, whole(at)));
  }
  Expr first_of_placed() const { return first_of_keys_ + blocks_ * keys_of_block_; }

  Func stored(const weighted_sum &sum, axis_id row, const Expr &value) const {
    std::map<axis_id, Var> vars = around_;
    if (row != no_axis) vars.emplace(row, f_.result.row);
    if (sum.column != no_axis) vars.emplace(sum.column, f_.result.column);
    return stored_step(a_.c, Func(context::label(a_.p, sum.root)), sum.root, sum.core, value, vars,
                       [&](const Expr &e) { return unsolved(e, f_.result.outer); });
  }

  attention_form &a_;
  attention_funcs &f_;
  const attention_stage &s_;
  const int rows_, keys_;
  int rows_of_tile_ = 0;  // of the state: of all sums
  const int keys_of_block_;
  std::vector<int> first_cell_;  // of each sum over keys, in a tile
  Expr placed_cells_ = 0;        // of all sums at positions
  std::vector<Expr> first_placed_;
  Expr tiles_, parts_;  // tiles of a part; parts
  Expr blocks_, first_of_keys_;
  std::map<axis_id, Var> around_;
};

}  // namespace

void lower_kept_sums(attention_form &a) { kept_sums_lowering(a).run(); }

}  // namespace qkv::codegen
