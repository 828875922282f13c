// SPDX-License-Identifier: BSL-1.0
// The state of a task, lanes are columns:
//   for each tile of rows, for each sum over keys: its rows
//   for each block of keys, for each sum over rows: its keys
#include "codegen/halide/lower/attention_both_ways.hpp"

#include "codegen/halide/lower/attention_sums.hpp"
#include "codegen/halide/lower/stored_step.hpp"
#include "codegen/halide/lower/unsolved.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::select;
using Halide::Var;

class both_ways_lowering {
 public:
  explicit both_ways_lowering(attention_setting &a)
      : a_(a),
        f_(a.f),
        s_(a.s),
        rows_(a.f.tile.rows),
        keys_(a.f.tile.keys),
        rows_of_tile_(rows_ * static_cast<int>(a.f.sums.size())),
        keys_of_block_(keys_ * static_cast<int>(a.f.across.size())) {}

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
    for (axis_id x : a_.tiles.outer()) tasks = Halide::min(tasks * a_.c.extent(x), least);
    const Expr parts = (least + tasks - 1) / tasks,
               tiles = (Halide::max(a_.rows, 1) + rows_ - 1) / rows_;
    tiles_ = (tiles + parts - 1) / parts;
    parts_ = (tiles + tiles_ - 1) / tiles_;
    blocks_ = (a_.keys + keys_ - 1) / keys_;
    first_of_keys_ = tiles_ * rows_of_tile_;
  }

  // All sums have the width of the widest.
  void widen() {
    Expr width = 16;
    for (std::vector<attention_sum> *sums : {&f_.sums, &f_.across})
      for (attention_sum &sum : *sums) width = width_with(sum, width);
    f_.running.width = Halide::Internal::simplify(width);
  }

  // One step adds what a tile of rows and a block of keys give to the sums of both.
  void merge() {
    RDom steps(0, f_.running.width, 0, rows_of_tile_ + keys_of_block_, 0, tiles_, 0, blocks_,
               "step");
    const Expr column = steps.x, cell = steps.y, block = steps.w,
               tile = f_.result.part * tiles_ + steps.z;
    skip(steps, tile, block);
    f_.running.steps = steps;
    f_.running.layout.block = steps.w;
    f_.v.y = Var("y"), f_.v.x = Var("x");
    f_.running.state = Func("state_" + a_.name);
    f_.running.state(place(f_.v.x, f_.v.y, f_.result.part)) = a_.number(0);
    const Expr of_key = cell - rows_of_tile_,
               to = select(of_key < 0, steps.z * rows_of_tile_ + cell,
                           first_of_keys_ + block * keys_of_block_ + of_key);
    const std::vector<Expr> at = place(column, to, f_.result.part);
    f_.running.state(at) = f_.running.state(at) + added(column, cell, block, tile);
  }

  void skip(RDom &steps, const Expr &tile, const Expr &block) const {
    const auto of_tile = [&](const Expr &e) {
      return Halide::Internal::substitute(f_.v.T.name(), tile, e);
    };
    const key_range seen = a_.visible();
    const Expr first = block * keys_;
    if (seen.to.defined()) steps.where(first < of_tile(seen.to));
    if (seen.from.defined()) steps.where(first + keys_ > of_tile(seen.from));
    steps.where(tile * rows_ < a_.rows);
  }

  // The part of this tile and block in the sum that the cell belongs to. likely(): the loop over
  // cells is cut after the first sum and before the last one.
  Expr added(const Expr &column, const Expr &cell, const Expr &block, const Expr &tile) const {
    std::vector<Expr> all;
    std::vector<int> ends;  // of their cells
    const auto add = [&](const attention_sum &sum, int n) {
      const int first = ends.empty() ? 0 : ends.back();
      const Expr c = Halide::clamp(column, 0, sum.columns - 1),
                 k = Halide::clamp(cell - first, 0, n - 1);
      all.push_back(sum.block_out(a_.tiles.with_outer({c, k, block, tile})));
      ends.push_back(first + n);
    };
    for (const attention_sum &sum : f_.sums) add(sum, rows_);
    for (const attention_sum &sum : f_.across) add(sum, keys_);
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
    for (std::size_t k = 0; k < s_.across[0].sums.size(); ++k) for_keys(k);
  }

  void for_rows(std::size_t k) {
    const Var row = f_.result.row;
    const Expr tile = row / rows_,
               y = tile % tiles_ * rows_of_tile_ + static_cast<int>(k) * rows_ + row % rows_;
    const Expr value = f_.running.state(place(f_.result.column, y, tile / tiles_));
    f_.result.copies.push_back(stored(s_.sums[k], s_.row, value));
  }

  // The parts of the rows add up in their order.
  void for_keys(std::size_t k) {
    const weighted_sum &sum = s_.across[0].sums[k];
    const Var key = f_.result.row, column = f_.result.column;
    const Expr y =
        first_of_keys_ + key / keys_ * keys_of_block_ + static_cast<int>(k) * keys_ + key % keys_;
    RDom parts(0, parts_, "part_of_rows");
    Func whole("whole_" + context::label(a_.p, sum.core));
    const std::vector<Expr> at = a_.tiles.with_outer({column, key});
    whole(at) = a_.number(0);
    whole(at) += f_.running.state(place(column, y, parts.x));
    f_.result.whole.push_back(whole);
    f_.result.copies.push_back(stored(sum, s_.key, whole(at)));
  }

  Func stored(const weighted_sum &sum, axis_id row, const Expr &value) const {
    std::map<axis_id, Var> vars = around_;
    vars.emplace(row, f_.result.row);
    vars.emplace(sum.column, f_.result.column);
    return stored_step(a_.c, sum.root, sum.core, value, vars,
                       [&](const Expr &e) { return unsolved(e, f_.result.outer); });
  }

  attention_setting &a_;
  attention_funcs &f_;
  const attention_stage &s_;
  const int rows_, keys_;
  const int rows_of_tile_, keys_of_block_;  // of the state: of all sums
  Expr tiles_, parts_;                      // tiles of a part; parts
  Expr blocks_, first_of_keys_;
  std::map<axis_id, Var> around_;
};

}  // namespace

void lower_both_ways(attention_setting &a) { both_ways_lowering(a).run(); }

}  // namespace qkv::codegen
