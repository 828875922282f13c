// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/scan.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>

#include "codegen/halide/lower/expression.hpp"
#include "codegen/halide/lower/reductions.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/halide/lower/unsolved.hpp"
#include "codegen/plan/temporaries.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/scans.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

// Place of a value in the table: rows for each axis that some step visits whole, the last
// innermost.
struct block {
  Expr first;
  std::vector<axis_id> axes;
};

// One pass over some rows of the table within a position. `iteration` -> the row and its new
// number.
struct phase {
  Expr count;
  std::function<std::pair<Expr, Expr>(const Expr &iteration)> run;
  bool after_next;  // the table already has the next state
};

class scan_lowering {
 public:
  scan_lowering(context &c, const scan_stage &s)
      : c_(c),
        p_(c.p),
        s_(s),
        axis_(p_[s.carried].over[0]),
        type_(halide_type(p_[s.carried].type)) {
    sort_axes();
  }

  scan_funcs run() {
    start();
    for (node_id n : s_.body) {
      if (!is_inlinable(p_, n)) plan(n);
      if (n == s_.next) write_next();
    }
    if (!next_written_) write_next();
    for (node_id core : s_.cores)
      if (p_[core].kind == op::scan) write_result(core);
    update();
    for (node_id root : s_.roots) output(root);
    return f_;
  }

 private:
  // Axes that some step reads at other positions than its own become rows; every column of the
  // others runs by itself.
  void sort_axes() {
    const scan_table table(p_, s_);
    walked_whole_ = table.rows;
    const std::vector<axis_id> &columns = table.columns;
    // the innermost axis of the result in lanes
    const std::vector<axis_id> &order = c_.order(s_.roots[0]);
    std::vector<axis_id> inner;
    for (axis_id a : order)
      if (has(columns, a)) inner.push_back(a);
    std::vector<axis_id> outermost_first = without(columns, inner);
    outermost_first.insert(outermost_first.end(), inner.begin(), inner.end());
    for (std::size_t d = outermost_first.size(); d-- > 0;) {
      const axis_id a = outermost_first[d];
      if (d + 1 == outermost_first.size())
        f_.has_lane = true, here_[a] = f_.lane;
      else
        f_.around.push_back(c_.var(a)), here_[a] = f_.around.back();
      columns_.push_back(a);
    }
    f_.columns = columns_;
  }

  std::vector<axis_id> rows_of(const std::vector<axis_id> &shape) const {
    std::vector<axis_id> rows;
    for (axis_id a : shape)
      if (has(walked_whole_, a)) rows.push_back(a);
    return rows;
  }
  Expr count(const std::vector<axis_id> &axes) const {
    Expr n = 1;
    for (axis_id a : axes) n = n * c_.size(a);
    return Halide::Internal::simplify(n);
  }
  block take_rows(const std::vector<axis_id> &shape) {
    const block b{rows_, rows_of(shape)};
    take(b.axes);
    return b;
  }
  void take(const std::vector<axis_id> &rows) {
    rows_ = Halide::Internal::simplify(rows_ + count(rows));
    f_.blocks.push_back(rows);
  }

  // The row of a block that belongs to a position, and the other way round.
  Expr row_at(const block &b, const indices &at) const {
    Expr row = 0;
    for (axis_id a : b.axes) row = row * c_.size(a) + at.at(a);
    return b.first + row;
  }
  void place(indices &at, const std::vector<axis_id> &axes, Expr iteration) const {
    for (std::size_t d = axes.size(); d-- > 0;) {
      const Expr n = Halide::max(c_.size(axes[d]), 1);
      at[axes[d]] = bounded(d == 0 ? iteration : iteration % n, c_.extent(axes[d]));
      iteration = iteration / n;
    }
  }
  // In [0, n) by construction, which bounds inference cannot see.
  static Expr bounded(const Expr &e, const Expr &n) {
    return Halide::unsafe_promise_clamped(e, 0, n - 1);
  }

  // A cell of the table: its row, and its position along the columns, innermost first.
  std::vector<Expr> cell(const Expr &row, std::vector<Expr> columns) const {
    if (!f_.has_lane) columns.insert(columns.begin(), 0);
    columns.insert(columns.begin() + 1, bounded(row, Halide::max(rows_, 1)));
    return columns;
  }
  std::vector<Expr> own_cell(const Expr &row) const {
    std::vector<Expr> columns;
    for (axis_id a : columns_) columns.push_back(here_.at(a));
    return cell(row, columns);
  }
  Expr read(const Expr &row) const { return f_.table(own_cell(row)); }
  // Of a block that has no row where one of its axes is empty: a take from that axis computes an
  // element at position 0 before it gives 0.
  Expr read_of(const std::vector<axis_id> &axes, const Expr &row) const {
    const bool may_be_empty =
        std::any_of(axes.begin(), axes.end(), [&](axis_id a) { return static_size(p_, a) < 0; });
    return read(may_be_empty ? Halide::min(row, Halide::max(rows_, 1) - 1) : row);
  }

  // ---- the state --------------------------------------------------------------------------------
  // Two copies that take turns: the step at position t reads copy t mod 2.
  void start() {
    state_ = take_rows(p_[s_.carried].shape);
    take(state_.axes);
    f_.table = Func("scan_" + context::label(p_, s_.carried));
    indices at = here_;
    place(at, state_.axes, Halide::min(f_.row, Halide::max(count(state_.axes) - 1, 0)));
    const value v = expression(c_).at(p_[s_.carried].in[0], at);
    std::vector<Var> vars = {f_.lane, f_.row};
    vars.insert(vars.end(), f_.around.begin(), f_.around.end());
    f_.table(vars) = Halide::select(f_.row < count(state_.axes),
                                    strict::cast(type_, stored_form(v, p_[s_.carried].type)),
                                    Halide::cast(type_, 0));
  }
  Expr state_row(const Expr &copy, const indices &at) const {
    return copy * count(state_.axes) + row_at(state_, at);
  }
  Expr turn(int later) const { return (position_ + later) % 2; }

  // ---- values inside a step ---------------------------------------------------------------------
  value at(node_id n, const indices &where) const {
    return expression(c_, [this](node_id n, const indices &i) { return own(n, i); }).at(n, where);
  }

  std::optional<value> own(node_id n, const indices &i) const {
    if (n == s_.carried) return value{read_of(state_.axes, state_row(turn(0), i)), {}};
    if (n == s_.next && next_written_)
      return value{read_of(state_.axes, state_row(turn(1), i)), {}};
    if (p_[n].kind == op::element) {
      indices here = i;
      here[axis_] = bounded(position_, c_.extent(axis_));
      return at(p_[n].in[0], here);
    }
    if (!planned_.count(n)) return std::nullopt;
    if (auto it = prefixes_.find(n); it != prefixes_.end())
      return value{read_of(it->second.axes, row_at(it->second, i)), {}};
    return folded(p_[n], i, [&](const fold &f) { return accumulated(n, p_[n], f, i); });
  }

  Expr accumulated(node_id n, const node &x, const fold &f, const indices &i) const {
    const block &from = folds_.at({n, f.what});
    const Expr number = read_of(from.axes, row_at(from, i));
    for (axis_id a : x.over)
      if (static_size(p_, a) < 0)  // perhaps empty: then no pass has run
        return Halide::select(count(x.over) > 0, number, Halide::cast(type_, f.identity));
    return number;
  }

  // ---- phases -----------------------------------------------------------------------------------
  void add(Expr count, std::function<std::pair<Expr, Expr>(const Expr &)> run) {
    phases_.push_back({std::move(count), std::move(run), next_written_});
  }

  void plan(node_id n) {
    const node &x = p_[n];
    if (halide_type(x.type) != type_)
      throw std::runtime_error(p_.name + ": a step of scan<" + p_.axes[axis_].name + "> folds " +
                               std::string(name_of(x.type)) + " numbers; its state is " +
                               std::string(name_of(p_[s_.carried].type)));
    if (x.kind == op::cumsum) return plan_prefix(n);
    indices somewhere = here_;
    for (axis_id a : walked_whole_) somewhere[a] = 0;
    folded(x, somewhere, [&](const fold &f) {
      plan_fold(n, f.what);
      return Expr(Halide::cast(type_, 0));
    });
    planned_.insert(n);
  }

  value folded(const node &x, const indices &where,
               const std::function<Expr(const fold &)> &run) const {
    const auto operand = [this](node_id n, const indices &i) { return at(n, i); };
    return reductions(c_, operand, [&](const node &, const fold &f) { return run(f); })
        .at(x, where);
  }

  // Element by element into one row: over the folded axes innermost. A fold may need those before
  // it at its position.
  void plan_fold(node_id n, const std::string &what) {
    const node x = p_[n];
    const block to = take_rows(without(x.shape, x.over));  // weights keep the axes that they fold
    folds_[{n, what}] = to;
    f_.folds.push_back(to.axes);
    f_.folds.back().insert(f_.folds.back().end(), x.over.begin(), x.over.end());
    const Expr length = count(x.over), longest = Halide::max(length, 1);
    add(count(to.axes) * length, [=, this](const Expr &iteration) {
      const Expr element = to.axes.empty() ? iteration : iteration % longest;
      indices where = here_;
      place(where, to.axes, iteration / longest);
      place(where, x.over, element);
      const Expr row = row_at(to, where);
      Expr number;
      folded(x, where, [&](const fold &f) {
        if (f.what != what) return accumulated(n, x, f, where);
        const Expr identity = Halide::cast(type_, f.identity);
        const value v = f.of(where);
        number = f.with(Halide::select(element == 0, identity, read(row)),
                        or_else({strict::cast(type_, v.number), v.present}, identity));
        return number;
      });
      return std::pair{row, number};
    });
  }

  void plan_prefix(node_id n) {
    const node &x = p_[n];
    std::vector<axis_id> order = without(x.shape, x.over);
    order.push_back(x.over[0]);
    const block to = take_rows(order);
    prefixes_[n] = to;
    planned_.insert(n);
    add(count(to.axes), [=, this](const Expr &iteration) {
      indices where = here_;
      place(where, to.axes, iteration);
      const Expr row = row_at(to, where), zero = Halide::cast(type_, 0);
      const value v = at(p_[n].in[0], where);
      const Expr before =
          Halide::select(where.at(p_[n].over[0]) == 0, zero, read(Halide::max(row - 1, 0)));
      return std::pair{row, strict::add(before, or_else(v, zero))};
    });
  }

  void write_next() {
    add(count(state_.axes), [=, this](const Expr &iteration) {
      indices where = here_;
      place(where, state_.axes, iteration);
      const value v = at(s_.next, where);
      return std::pair{
          state_row(turn(1), where),
          or_else({strict::cast(type_, v.number), v.present}, read(state_row(turn(0), where)))};
    });
    next_written_ = true;
  }

  void write_result(node_id core) {
    const node_id y = p_[core].in.back();
    const block to{rows_, rows_of(p_[y].shape)};
    std::vector<axis_id> at_each = to.axes;
    at_each.push_back(axis_);
    take(at_each);
    results_[core] = to;
    add(count(to.axes), [=, this](const Expr &iteration) {
      indices where = here_;
      place(where, to.axes, iteration);
      return std::pair{position_ * count(to.axes) + row_at(to, where), stored(at(y, where), y)};
    });
  }

  Expr stored(const value &v, node_id n) const {
    return strict::cast(type_, stored_form(v, p_[n].type));
  }

  void update() {
    Expr longest = 0;
    for (const phase &f : phases_) longest = Halide::max(longest, f.count);
    const int n = static_cast<int>(phases_.size());
    f_.steps = Halide::RDom({{0, Halide::Internal::simplify(longest)}, {0, n}, {0, c_.size(axis_)}},
                            "step");
    position_ = f_.steps.z;
    Expr row, number, length;
    for (int k = n; k-- > 0;) {
      const phase &f = phases_[static_cast<std::size_t>(k)];
      next_written_ = f.after_next;
      const auto [r, v] = f.run(f_.steps.x);
      const auto pick = [&](const Expr &mine, Expr &others) {
        others = others.defined() ? Halide::select(f_.steps.y == k, mine, others) : mine;
      };
      pick(r, row), pick(v, number), pick(f.count, length);
    }
    f_.steps.where(f_.steps.x < length);
    f_.table(own_cell(row)) = number;
    f_.table.bound(f_.row, 0, Halide::max(rows_, 1));
    if (!f_.has_lane) f_.table.bound(f_.lane, 0, 1);
  }

  // An element of a result, read from the table. Compiled code computes one row even of an empty
  // result; where the table has no row for it, this reads the last one.
  Expr element(node_id core, const indices &i) const {
    const Expr row = p_[core].kind == op::last ? state_row(c_.size(axis_) % 2, i)
                                               : i.at(axis_) * count(results_.at(core).axes) +
                                                     row_at(results_.at(core), i);
    std::vector<Expr> columns;
    for (axis_id a : columns_) columns.push_back(has(p_[core].shape, a) ? i.at(a) : Expr(0));
    return f_.table(cell(Halide::min(row, Halide::max(rows_, 1) - 1), columns));
  }

  // ---- results ----------------------------------------------------------------------------------
  void output(node_id root) {
    const std::vector<axis_id> &order = c_.order(root);
    scan_funcs::output o;
    indices at;
    for (std::size_t d = order.size(); d-- > 0;) {
      const Var v = c_.var(order[d]);
      o.position.push_back(v);
      at[order[d]] = v;
    }
    expression e(c_, [&](node_id n, const indices &i) -> std::optional<value> {
      if (std::find(s_.cores.begin(), s_.cores.end(), n) == s_.cores.end()) return std::nullopt;
      return value{element(n, i), {}};
    });
    o.out = Func(context::label(p_, root));
    o.out(o.position) = unsolved(stored_form(e.definition(root, at), p_[root].type));
    c_.store(root, o.out, order);
    f_.outputs.push_back(o);
  }

  context &c_;
  const program &p_;
  const scan_stage &s_;
  const axis_id axis_;
  const Halide::Type type_;
  scan_funcs f_;
  std::vector<axis_id> walked_whole_;  // these become rows
  std::vector<axis_id> columns_;       // the others, innermost first
  indices here_;                       // the position of a column along them
  Expr rows_ = 0;                      // given away so far
  Expr position_ = 0;
  block state_;
  std::map<std::pair<node_id, std::string>, block> folds_;
  std::map<node_id, block> prefixes_, results_;
  std::set<node_id> planned_;
  std::vector<phase> phases_;
  bool next_written_ = false;  // of the phase that is being planned or run
};

}  // namespace

scan_funcs lower_scan(context &c, const scan_stage &s) { return scan_lowering(c, s).run(); }

}  // namespace qkv::codegen
