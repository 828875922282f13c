// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/attention_results.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/reductions.hpp"
#include "codegen/halide/lower/stored_step.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/halide/lower/unsolved.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::select;
using Halide::Var;

// A step that the stage stores, from a sum or from the logsumexp.
struct result {
  node_id root = no_step, core = no_step;
  axis_id column = no_axis;
  int values = -1;     // which sum with columns
  int statistic = -1;  // which of the sums without columns; the logsumexp has neither
};

// Reads the state of one form of the stage, or its only block.
class state_reader {
 public:
  state_reader(const attention_form &a, const std::map<axis_id, Var> &around)
      : a_(a), f_(a.f), s_(a.s), around_(around) {}

  // `of_cell`: the column where the value is written, whose owner has the statistics; undefined: of
  // a result that has none.
  Expr value_of(const result &r, const Expr &column, const Expr &of_cell) const {
    const auto own = [&](int k) { return statistic(k, of_cell.defined() ? of_cell : Expr(0)); };
    if (r.values >= 0 && f_.tile.one_block)
      return normalised(sum_of(r.values, true).block_out(of_block({column, row_of_tile()})), own);
    if (r.values >= 0) {
      const auto &cells = f_.running.layout.sums[static_cast<std::size_t>(r.values)];
      return normalised(state(cells.at(row_of_tile(), column)), own);
    }
    if (r.statistic >= 0) return normalised(own(r.statistic), own);
    return reductions::logsumexp(own(2), own(3));
  }

 private:
  // Among all rows of the call.
  Expr row() const {
    Expr n = 0;
    for (axis_id a : a_.tiles.rows()) n = n * a_.c.extent(a) + around_.at(a);
    return Halide::Internal::simplify(n);
  }
  Expr row_of_tile() const {
    if (!f_.is_only_tile()) return row() % f_.tile.rows;
    return Halide::unsafe_promise_clamped(row(), 0, f_.tile.rows - 1);
  }
  Expr tile() const { return f_.is_only_tile() ? Expr(0) : row() / f_.tile.rows; }

  Expr state(state_layout::coordinates args) const {
    args.push_back(tile());
    for (const Var &v : f_.v.outer) args.push_back(v);
    return f_.running.state(args);
  }

  // The coordinates of the only block.
  std::vector<Expr> of_block(std::vector<Expr> args) const {
    return a_.tiles.in_tile(std::move(args), 0, 0);
  }
  // The k-th of the sums that have columns, or of those that have none.
  const attention_sum &sum_of(int k, bool has_columns) const {
    const auto is_it = [&](const attention_sum &sum) {
      return sum.has_columns() == has_columns && k-- == 0;
    };
    return *std::find_if(f_.sums.begin(), f_.sums.end(), is_it);
  }
  Func statistic_of_block(int k) const {
    if (f_.running.has_maximum && k == 2) return f_.pairs.block_max;
    return k < f_.running.first_sum ? f_.pairs.block_sum
                                    : sum_of(k - f_.running.first_sum, false).block_out;
  }

  Expr statistic(int k, const Expr &column) const {
    if (f_.tile.one_block) return statistic_of_block(k)(of_block({row_of_tile()}));
    return state(f_.running.layout.statistic_at(k, row_of_tile(), column));
  }

  // The result of a row: its sum of products divided by its sum of weights.
  Expr normalised(const Expr &sum, const std::function<Expr(int)> &statistic) const {
    if (!s_.is_normalised()) return sum;
    const Expr l = statistic(f_.running.first_sum - 1);
    // One division per row, not one per element: at 128 keys those would take a twelfth of the
    // time. The sum of a softmax is at least 1; other sums may be too small to have a reciprocal.
    // A row without weights gives 0, or NaN if a visible value is NaN.
    const Expr none = math::is_zero(l), zero = a_.number(0);
    if (a_.levels.less_maximum()) {
      const Expr nan = a_.number(std::numeric_limits<double>::quiet_NaN());
      const Expr of_infinities = strict::equal(statistic(2), a_.levels.lowest());
      return strict::mul(sum, select(of_infinities, nan, none, zero, 1.f / l));
    }
    if (f_.running.has_maximum) return sum * select(none, zero, 1.f / l);
    // Not sum * 0: LLVM takes a sum for a number and its product with 0 for 0.
    const Expr infinite = a_.number(std::numeric_limits<double>::infinity());
    return strict::div(sum, select(none, infinite, l));
  }

  const attention_form &a_;
  const attention_funcs &f_;
  const attention_stage &s_;
  const std::map<axis_id, Var> &around_;
};

class result_lowering {
 public:
  explicit result_lowering(std::vector<attention_form *> forms)
      : forms_(std::move(forms)), a_(*forms_.back()), f_(a_.f), s_(a_.s) {}

  void run() {
    for (std::size_t d = s_.outer.size(); d-- > 0;) {
      f_.result.outer.push_back(a_.c.var(s_.outer[d]));
      around_.emplace(s_.outer[d], f_.result.outer.back());
    }
    if (f_.result.has_row) around_.emplace(s_.row, f_.result.row);
    list();
    f_.result.has_column = !with_columns_.empty();
    if (all_.size() == 1)
      stored(f_.result.out, all_[0], value_of(all_[0], f_.result.column, f_.result.column));
    else
      several();
    for (attention_form *form : forms_) form->f.result = f_.result;
  }

 private:
  void list() {
    int values = 0, statistic = f_.running.first_sum;
    for (std::size_t k = 0; k < s_.sums.size(); ++k) {
      const weighted_sum &sum = s_.sums[k];
      result r{sum.root, sum.core, sum.column};
      if (f_.sums[k].has_columns()) {
        r.values = values++;
        with_columns_.push_back(r);
      } else {
        r.statistic = statistic++;
        per_row_.push_back(r);
      }
      all_.push_back(r);
    }
    if (s_.lse != no_step) {
      per_row_.push_back({s_.lse_root, s_.lse});
      all_.push_back(per_row_.back());
    }
  }

  // Of the form that the call takes.
  Expr value_of(const result &r, const Expr &column, const Expr &of_cell) const {
    const bool is_written_at_column = f_.result.has_column || all_.size() > 1;
    Expr chosen;
    for (std::size_t k = forms_.size(); k-- > 0;) {
      const Expr own = state_reader(*forms_[k], around_)
                           .value_of(r, column, is_written_at_column ? of_cell : Expr());
      chosen = chosen.defined() ? select(forms_[k]->f.is_taken, own, chosen) : own;
    }
    return chosen;
  }

  // One sweep for all: `out` has a component for each sum with columns; in the first one, the
  // columns after the widest sum hold what is one number per row. The roots are copied from it.
  void several() {
    Expr most = 0;
    for (const result &r : with_columns_) most = Halide::max(most, columns_of(r));
    most = Halide::Internal::simplify(most);
    const auto one_per_row = [&](const Expr &first) {
      Expr all = first;
      for (std::size_t k = per_row_.size(); k-- > 0;) {
        const Expr own = value_of(per_row_[k], f_.v.c, f_.v.c);
        all = all.defined() ? select(f_.v.c == most + static_cast<int>(k), own, all) : own;
      }
      return all;
    };
    std::vector<Expr> components;
    for (const result &r : with_columns_) {
      // a thread that holds such a column has a cell for it; lanes end with the values
      const Expr last = Halide::max(columns_of(r), 1) - 1;
      const Expr column = a_.on_threads() ? Expr(f_.v.c) : Halide::min(f_.v.c, last);
      components.push_back(value_of(r, column, f_.v.c));
    }
    if (components.empty())
      components.push_back(one_per_row({}));
    else if (!per_row_.empty())
      components[0] = select(f_.v.c < most, components[0], one_per_row({}));
    std::vector<Var> vars = {f_.v.c};
    if (f_.result.has_row) vars.push_back(f_.result.row);
    vars.insert(vars.end(), f_.result.outer.begin(), f_.result.outer.end());
    if (components.size() == 1)
      f_.result.out(vars) = components[0];
    else
      f_.result.out(vars) = Halide::Tuple(components);
    copy_roots(vars, most);
  }

  Expr columns_of(const result &r) const {
    return r.column == no_axis ? Expr(1) : a_.c.size(r.column);
  }

  // In the order of their steps: a root may be made of another one.
  void copy_roots(const std::vector<Var> &vars, const Expr &most) {
    const auto read = [&](const result &r, const Expr &column) -> Expr {
      std::vector<Expr> args(vars.begin(), vars.end());
      args[0] = column;
      const Halide::FuncRef at = f_.result.out(args);
      if (with_columns_.size() < 2) return at;
      return at[r.values < 0 ? 0 : r.values];
    };
    std::vector<std::size_t> order(all_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return all_[a].root < all_[b].root; });
    f_.result.copies.resize(all_.size());
    for (const std::size_t k : order) {
      const result &r = all_[k];
      f_.result.copies[k] =
          stored(Func(context::label(a_.p, r.root)), r,
                 r.values >= 0 ? read(r, f_.result.column) : read(r, most + place_of(r)));
    }
  }

  int place_of(const result &r) const {
    for (std::size_t k = 0; k < per_row_.size(); ++k)
      if (per_row_[k].core == r.core) return static_cast<int>(k);
    return 0;
  }

  // A stored step, where the sum or the logsumexp has this value.
  Func stored(const Func &f, const result &r, const Expr &value) const {
    std::map<axis_id, Var> vars = around_;
    if (r.column != no_axis) vars.emplace(r.column, f_.result.column);
    return stored_step(a_.c, f, r.root, r.core, value, vars,
                       [&](const Expr &e) { return unsolved(e, f_.result.outer); });
  }

  const std::vector<attention_form *> forms_;
  attention_form &a_;  // of the last form: what it says of the stage holds for all
  attention_funcs &f_;
  const attention_stage &s_;
  std::map<axis_id, Var> around_;
  std::vector<result> all_, with_columns_, per_row_;
};

}  // namespace

void lower_results(const std::vector<attention_form *> &forms) { result_lowering(forms).run(); }

}  // namespace qkv::codegen
