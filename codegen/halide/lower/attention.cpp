#include "codegen/halide/lower/attention.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "codegen/halide/lower/attention_tiles.hpp"
#include "codegen/halide/lower/expression.hpp"
#include "codegen/halide/lower/in_step.hpp"
#include "codegen/halide/lower/key_range.hpp"
#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/reductions.hpp"
#include "codegen/halide/lower/stored_step.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/halide/lower/unsolved.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::select;
using Halide::Var;

class attention_lowering {
 public:
  attention_lowering(context &c, const attention_stage &s, const attention_tile &tile)
      : c_(c),
        p_(c.p),
        s_(s),
        type_(halide_type(p_[s.core].type)),
        outer_(positions(c, s.outer)),
        tiles_(c, s, f_, outer_) {
    f_.tile = tile;
    f_.running.has_maximum = s.weights >= 0 && p_[s.weights].kind == op::softmax;
    f_.running.rows = f_.running.has_maximum ? 4 : 1;
    gaps_ = c.has_gaps[s.scores] || (s.gate >= 0 && c.has_gaps[s.gate]);
    less_maximum_ = f_.running.has_maximum && p_[s.weights].less_maximum;
    for (std::size_t d = s.outer.size(); d-- > 0;) f_.v.outer.push_back(c.var(s.outer[d]));
    name_ = context::label(p_, s.core);
    rows_ = s.row == no_axis ? Expr(1) : c.size(s.row);
    keys_ = c.size(s.key);
    f_.running.columns = s.column == no_axis ? Expr(1) : c.size(s.column);
    f_.result.has_row = s.row != no_axis;
    f_.result.has_column = s.column != no_axis;
  }

  attention_funcs run() {
    scores();
    weights();
    products_with_values();
    state();
    results();
    return f_;
  }

 private:
  static indices positions(const context &c, const std::vector<axis_id> &axes) {
    indices at;
    for (axis_id a : axes) at[a] = c.var(a);
    return at;
  }

  Expr number(double x) const { return math::constant(type_, x); }
  // "Nothing seen yet": -inf - -inf would be NaN.
  Expr lowest() const { return math::lowest(type_); }

  // Removed scores differ from visible ones of -inf in kernels that need it. Scores and their
  // maxima then have three levels: -inf if removed, the lowest finite number if visible and -inf,
  // and above that if finite.
  bool has_levels() const { return f_.running.has_maximum && (marked_by_scores_ || less_maximum_); }
  Expr lowest_of_finite() const {
    return number(type_.bits() == 64 ? std::nextafter(std::numeric_limits<double>::lowest(), 0.)
                                     : std::nextafter(std::numeric_limits<float>::lowest(), 0.f));
  }
  Expr level_of(const Expr &visible) const {
    const Expr low = select(strict::less(visible, lowest()), lowest(), lowest_of_finite());
    return select(strict::less(visible, lowest_of_finite()), low, visible);
  }
  Expr nothing_seen() const { return has_levels() ? number(-math::infinity) : lowest(); }
  // Subtracted before exp(); both lower levels give 0.
  Expr shift_of(const Expr &maximum) const {
    return has_levels() ? Halide::max(maximum, lowest_of_finite()) : maximum;
  }

  // The keys that the mask leaves to some row of this tile.
  key_range visible() const {
    const Expr first = f_.v.T * f_.tile.rows;
    Expr last = s_.row == no_axis ? Expr(0) : Halide::min(first + f_.tile.rows, rows_) - 1;
    return visible_keys(c_, s_, s_.row == no_axis ? Expr(0) : first, last, outer_);
  }

  // Conditions on outer axes take no part in bounds inference: a tile has one position of each.
  Expr kept(const Expr &e) const { return unsolved(e, f_.v.outer); }
  // Values of the tile, with their conditions in the form that the machine requires.
  Expr chosen(const Expr &e) const {
    return kept(f_.tile.dealt_to_threads() ? in_step(e, f_.v.j) : e);
  }

  // ---- scores -----------------------------------------------------------------------------------
  Func product(node_id dot) {
    Func s("product_" + context::label(p_, dot));
    Halide::Region region;
    for (axis_id a : p_[dot].over) region.insert(region.begin(), Halide::Range(0, c_.size(a)));
    RDom r(region, "feature");
    indices at = tiles_.here();
    std::vector<Halide::RVar> over;
    for (std::size_t d = 0; d < p_[dot].over.size(); ++d) {
      over.push_back(r[static_cast<int>(d)]);
      at[p_[dot].over[p_[dot].over.size() - 1 - d]] = r[static_cast<int>(d)];
    }
    expression e(c_, [&](node_id n, const indices &i) {
      auto v = tiles_.row_tile(n, i);
      return v ? v : tiles_.key_tile(n, i);
    });
    value a = e.at(p_[dot].in[0], at), b = e.at(p_[dot].in[1], at);
    const auto all = tiles_.pair(f_.v.i, f_.v.j, f_.v.b);
    const Halide::Type t = halide_type(p_[dot].type);
    const Expr zero = math::constant(t, 0);
    s(all) = zero;
    s(all) = strict::plus(s(all), chosen(or_else(codegen::product(a, b, t), zero)));
    f_.pairs.products.push_back(s);
    f_.pairs.features.push_back(over);
    return s;
  }

  void scores() {
    std::map<node_id, Func> dots;
    for (node_id d : s_.score_dots) dots.emplace(d, product(d));
    expression e(c_, [&](node_id n, const indices &at) -> std::optional<value> {
      if (auto it = dots.find(n); it != dots.end())
        return value{it->second(tiles_.pair(f_.v.i, f_.v.j, f_.v.b)), {}};
      if (auto v = tiles_.pair_tile(n, at)) return v;
      return tiles_.row_tile(n, at);
    });
    value v = e.at(s_.scores, tiles_.here());
    marked_by_scores_ = gaps_ && uses_product(pair_counts(f_.v.j));
    const Expr count = both(counts_as_score(v), inside(f_.v.j));
    v.number = Halide::cast(type_, v.number);  // scores may be i32 or 16-bit
    if (has_levels()) v.number = level_of(v.number);
    v.present = both(v.present, inside(f_.v.j));
    const Expr score = or_else(v, number(f_.running.has_maximum ? -math::infinity : 0));
    const bool are_marked = !f_.running.has_maximum && (marked_by_scores_ || s_.gate < 0);
    f_.pairs.scores = Func("scores_" + name_);
    f_.pairs.scores(tiles_.pair(f_.v.i, f_.v.j, f_.v.b)) =
        chosen(are_marked ? marked(score, count) : score);
  }

  Expr inside(const Expr &key) const { return f_.v.b * f_.tile.keys + key < keys_; }
  // Threads also take keys past the end, which repeat the last one with weight 0: infinite factors
  // of theirs must be 0, too, where no marks keep them out.
  bool runs_past_the_end() const { return f_.tile.dealt_to_threads() && !gaps_; }

  // ---- pairs that do not count ------------------------------------------------------------------
  // An empty weight counts as a score: softmax turns it into a number.
  Expr counts_as_score(const value &v) const { return s_.weights >= 0 ? v.present : counts(v); }

  // True if neither the weight at this key of the block nor its gate is masked. Undefined if no
  // mask applies. Products of the tile are a variable, unknown_.
  Expr pair_counts(const Expr &key) const {
    indices at = outer_;
    if (s_.row != no_axis) at[s_.row] = tiles_.row(f_.v.i, f_.v.T);
    at[s_.key] = tiles_.key(key, f_.v.b);
    expression e(c_, [&](node_id n, const indices &) -> std::optional<value> {
      if (std::find(s_.score_dots.begin(), s_.score_dots.end(), n) == s_.score_dots.end())
        return std::nullopt;
      return value{Halide::Internal::Variable::make(halide_type(p_[n].type), unknown_), {}};
    });
    Expr count = counts_as_score(e.at(s_.scores, at));
    if (s_.gate >= 0) count = both(count, counts(e.at(s_.gate, at)));
    return count;
  }
  bool uses_product(const Expr &count) const {
    return count.defined() && Halide::Internal::expr_uses_var(count, unknown_);
  }

  // A weight of -0 marks a product that does not count, and no other weight is -0: on GPUs, where
  // testing every product is free, and where masks depend on products of the tile.
  bool has_marks() const { return gaps_ && (f_.tile.dealt_to_threads() || marked_by_scores_); }
  Expr bits_of(const Expr &x) const { return Halide::reinterpret(Halide::Int(type_.bits()), x); }
  Expr minus_zero() const { return bits_of(number(0)).type().min(); }
  Expr is_mark(const Expr &weight) const { return bits_of(weight) == minus_zero(); }
  Expr marked(const Expr &weight, const Expr &count) const {
    if (!has_marks() || !count.defined()) return weight;
    const Expr zero = Halide::Internal::make_zero(minus_zero().type());
    return Halide::reinterpret(
        type_, select(count, select(is_mark(weight), zero, bits_of(weight)), minus_zero()));
  }

  // where() trims the loops; the clamp, redundant in value, trims the bounds required of the
  // producers.
  void weights() {
    const key_range seen = visible();
    limit_ = keys_ - f_.v.b * f_.tile.keys;
    if (seen.to.defined()) limit_ = Halide::min(limit_, seen.to - f_.v.b * f_.tile.keys);
    limit_ = Halide::min(limit_, f_.tile.keys);
    limit_is_chosen_ = seen.is_chosen;
    f_.pairs.keys = keys_of_block("key");
    const Expr k = trimmed(f_.pairs.keys);
    const auto block = tiles_.with_outer({f_.v.i, f_.v.b, f_.v.T});
    f_.pairs.weights = f_.pairs.scores;
    if (f_.running.has_maximum) {
      f_.pairs.block_max = Func("max_" + name_);
      f_.pairs.block_max(block) = nothing_seen();
      f_.pairs.block_max(block) =
          Halide::max(f_.pairs.block_max(block), f_.pairs.scores(tiles_.pair(f_.v.i, k, f_.v.b)));
      f_.pairs.weights = Func("weights_" + name_);
      const auto all = tiles_.pair(f_.v.i, f_.v.j, f_.v.b);
      const Expr score = f_.pairs.scores(all),
                 weight = math::exp_nonpositive(score - shift_of(f_.pairs.block_max(block)));
      if (marked_by_scores_)
        f_.pairs.weights(all) =
            chosen(marked(weight, !strict::equal(score, number(-math::infinity))));
      else
        f_.pairs.weights(all) =
            s_.gate >= 0 ? weight
                         : chosen(marked(weight, both(pair_counts(f_.v.j), inside(f_.v.j))));
    }
    f_.pairs.block_sum = Func("sum_" + name_);
    f_.pairs.block_sum(block) = number(0);
    f_.pairs.block_sum(block) += f_.pairs.weights(tiles_.pair(f_.v.i, k, f_.v.b));
    f_.pairs.gated = f_.pairs.weights;
    if (s_.gate >= 0) gate();
  }

  void gate() {
    expression e(c_, [&](node_id n, const indices &at) {
      auto v = tiles_.pair_tile(n, at);
      return v ? v : tiles_.row_tile(n, at);
    });
    value g = e.at(s_.gate, tiles_.here());
    g.number = strict::cast(type_, g.number);
    const auto all = tiles_.pair(f_.v.i, f_.v.j, f_.v.b);
    f_.pairs.gated = Func("gated_" + name_);
    const Expr product = strict::mul(f_.pairs.weights(all), or_else(g, number(0)));
    Expr count =
        marked_by_scores_ ? both(!is_mark(f_.pairs.weights(all)), counts(g)) : pair_counts(f_.v.j);
    if (runs_past_the_end()) count = both(count, inside(f_.v.j));
    f_.pairs.gated(all) = has_marks()        ? chosen(marked(product, both(count, inside(f_.v.j))))
                          : !count.defined() ? product
                                             : kept(select(count, product, number(0)));
  }

  RDom keys_of_block(const std::string &name) const {
    RDom keys(0, f_.tile.keys, name);
    if (f_.tile.dealt_to_threads()) return keys;  // threads run in step: nothing to gain there
    keys.where(keys.x < limit_);
    if (limit_is_chosen_) keys.where(f_.v.b * f_.tile.keys + keys.x < keys_);
    return keys;
  }
  Expr trimmed(const RDom &keys) const {
    return f_.tile.dealt_to_threads() ? Expr(keys.x)
                                      : Halide::max(Halide::min(keys.x, limit_ - 1), 0);
  }

  void products_with_values() {
    f_.product.is_padded = s_.column != no_axis && p_.axes[p_.axes[s_.column].root].size < 0;
    indices at;
    std::vector<Var> vars = {f_.v.c, f_.v.j, f_.v.b};
    std::vector<Expr> args = {f_.v.c, f_.pairs.keys.x, f_.v.b};
    for (axis_id a : p_[s_.values].shape) {
      if (a == s_.key)
        at[a] = tiles_.key(f_.v.j, f_.v.b);
      else if (a == s_.column)
        at[a] = f_.product.is_padded || f_.tile.dealt_to_threads() ? c_.within(s_.column, f_.v.c)
                                                                   : Expr(f_.v.c);
      else
        at[a] = outer_.at(a);
    }
    for (std::size_t d = s_.outer.size(); d-- > 0;)
      if (has(p_[s_.values].shape, s_.outer[d])) {
        vars.push_back(f_.v.outer[s_.outer.size() - 1 - d]);
        args.push_back(vars.back());
      }
    f_.product.values = Func("values_" + name_);
    value v = expression(c_).at(s_.values, at);
    v.number = strict::cast(type_, v.number);
    const bool values_have_gaps = counts(v).defined(), infinite = strict::has_infinity(v.number);
    if (runs_past_the_end()) v.present = both(v.present, inside(f_.v.j));
    f_.product.values(vars) = or_else(v, number(0));
    const auto value_counts = [&](const Expr &key) {
      at[s_.key] = tiles_.key(key, f_.v.b);
      return counts(expression(c_).at(s_.values, at));
    };

    const auto all = tiles_.with_outer({f_.v.c, f_.v.i, f_.v.b, f_.v.T});
    f_.product.sum = Func("product_v_" + name_);
    f_.product.sum(all) = number(0);
    const auto product = [&](const RDom &keys, bool with_gaps) {
      args[1] = keys.x;
      const Expr key = trimmed(keys), p = f_.pairs.gated(tiles_.pair(f_.v.i, key, f_.v.b)),
                 term = infinite ? strict::mul(p, f_.product.values(args))
                                 : p * f_.product.values(args),
                 sum =
                     infinite ? strict::add(f_.product.sum(all), term) : f_.product.sum(all) + term;
      // Conditions may read images, of which a clamp to a block without keys would require -1.
      Expr count;
      if (with_gaps) count = has_marks() ? !is_mark(p) : pair_counts(keys.x);
      if (values_have_gaps) count = both(count, value_counts(keys.x));
      f_.product.sum(all) = count.defined() ? kept(select(count, sum, f_.product.sum(all))) : sum;
    };
    f_.product.keys_clean = keys_of_block("key_clean");
    const bool every_product = gaps_ && f_.tile.dealt_to_threads();
    if (gaps_ && !every_product) {
      const Expr suspect = look_for_suspects(vars, args);
      f_.product.keys_suspect = keys_of_block("key_suspect");
      f_.product.keys_clean.where(suspect == 0);
      f_.product.keys_suspect.where(suspect != 0);
    }
    product(f_.product.keys_clean, every_product);
    if (f_.product.suspect.defined()) product(f_.product.keys_suspect, true);
    f_.product.block_out = Func("block_out_" + name_);
    f_.product.block_out(all) = f_.product.sum(all);
  }

  // A key that is masked for one row may be visible to another, so 0 * NaN can occur; only a block of V that holds NaN or
  // infinity pays for the test at every product. A GPU tests always: it predicates the product at no cost.
  Expr look_for_suspects(const std::vector<Var> &vars, std::vector<Expr> args) {
    std::vector<Expr> per_column = {f_.v.c, f_.v.b}, per_block = {f_.v.b};
    for (std::size_t d = 3; d < vars.size(); ++d) {
      per_column.push_back(vars[d]);
      per_block.push_back(vars[d]);
    }
    Halide::RDom keys(0, f_.tile.keys, "key_looked_at");
    keys.where(f_.v.b * f_.tile.keys + keys.x < keys_);
    args[1] = keys.x;
    f_.product.suspect_columns = Func("suspect_columns_" + name_);
    f_.product.suspect_columns(per_column) = 0;
    f_.product.suspect_columns(per_column) =
        f_.product.suspect_columns(per_column) |
        select(strict::is_finite(f_.product.values(args)), 0, 1);
    f_.product.all_columns = Halide::RDom(0, f_.running.columns, "column");
    per_column[0] = f_.product.all_columns.x;
    f_.product.suspect = Func("suspect_" + name_);
    f_.product.suspect(per_block) = 0;
    f_.product.suspect(per_block) =
        f_.product.suspect(per_block) | f_.product.suspect_columns(per_column);
    return f_.product.suspect(per_block);
  }

  // ---- running state ----------------------------------------------------------------------------
  // One Func, so that its memory does not grow with the keys: for each row the statistics (alpha, beta, m, l) or (l),
  // then o.
  void state() {
    const int rows = f_.tile.rows, statistics = f_.running.rows;
    const Expr blocks = (keys_ + f_.tile.keys - 1) / f_.tile.keys;
    if (f_.tile.dealt_to_threads()) {
      f_.running.layout = threads_layout(f_.tile.columns_per_thread, statistics, blocks);
    } else {
      Expr padded = f_.product.is_padded ? (f_.running.columns + 15) / 16 * 16 : f_.running.columns;
      f_.running.width = Halide::Internal::simplify(Halide::max((padded + 15) / 16 * 16, rows));
      if (f_.product.is_padded) f_.running.columns = padded;
      f_.running.layout =
          lanes_layout(rows, statistics, f_.running.columns, f_.running.width, blocks);
      f_.v.x = f_.running.layout.vars[0], f_.v.y = f_.running.layout.vars[1];
    }
    const state_layout &y = f_.running.layout;
    f_.running.steps = y.steps;
    skip_blocks();

    f_.running.state = Func("state_" + name_);
    const auto at = [&](state_layout::coordinates where) {
      where.push_back(f_.v.T);
      return f_.running.state(tiles_.with_outer(std::move(where)));
    };
    const auto statistic = [&](int k, const Expr &row) {
      return at(y.statistic_at(k, row, y.column));
    };
    const auto block = [&](const Func &g) {
      return g(tiles_.with_outer({y.row, y.block, f_.v.T}));
    };
    const Expr o =
        f_.product.block_out(tiles_.with_outer({y.column, y.value_row, y.block, f_.v.T}));
    const Expr l = block(f_.pairs.block_sum);
    const state_layout::coordinates all(y.vars.begin(), y.vars.end());
    if (!f_.running.has_maximum) {
      at(all) = number(0);
      at(y.cell) = at(y.cell) + select(y.is_value, Halide::likely(o), l);
      return;
    }
    at(all) = select(y.statistic_var == 2, nothing_seen(), number(0));
    const Expr old = statistic(2, y.lane_row), now = block(f_.pairs.block_max),
               m = Halide::max(old, now), shift = shift_of(m);
    at(y.cell) = select(
        y.is_value,
        Halide::likely(at(y.cell) * statistic(0, y.value_row) + o * statistic(1, y.value_row)),
        select(y.statistic == 0, math::exp_nonpositive(old - shift), y.statistic == 1,
               math::exp_nonpositive(now - shift), y.statistic == 2, m,
               statistic(3, y.lane_row) * statistic(0, y.lane_row) + l * statistic(1, y.lane_row)));
  }

  // Blocks of keys that the mask removes for the whole tile are not visited.
  void skip_blocks() {
    const bool gpu = f_.tile.dealt_to_threads();
    const key_range seen = gpu ? in_step(visible()) : visible();
    const Expr first = f_.running.layout.block * f_.tile.keys;
    if (seen.to.defined()) f_.running.layout.steps.where(first < seen.to);
    if (seen.from.defined()) f_.running.layout.steps.where(first + f_.tile.keys > seen.from);
    if (s_.row != no_axis && !gpu) f_.running.layout.steps.where(f_.v.T * f_.tile.rows < rows_);
  }

  void results() {
    for (std::size_t d = s_.outer.size(); d-- > 0;) {
      f_.result.outer.push_back(c_.var(s_.outer[d]));
      out_vars_.emplace(s_.outer[d], f_.result.outer.back());
    }
    Expr i = 0, T = 0, c = 0;
    const Var row = f_.result.row, column = f_.result.column;
    if (f_.result.has_row)
      out_vars_.emplace(s_.row, row), i = row % f_.tile.rows, T = row / f_.tile.rows;
    if (f_.result.has_column) out_vars_.emplace(s_.column, column), c = column;
    const auto state = [&](state_layout::coordinates args) {
      args.push_back(T);
      args.insert(args.end(), f_.result.outer.begin(), f_.result.outer.end());
      return f_.running.state(args);
    };
    const auto statistic = [&](int k, const Expr &column) {
      return state(f_.running.layout.statistic_at(k, i, column));
    };
    const auto o = [&](const Expr &column, const Expr &of_cell) {
      return normalised(state(f_.running.layout.value_at(i, column)),
                        [&](int k) { return statistic(k, of_cell); });
    };
    if (s_.lse < 0)
      f_.result.out = stored(s_.roots[0], s_.core, o(c, c));
    else
      two_results(o, reductions::logsumexp(statistic(2, f_.v.c), statistic(3, f_.v.c)), c);
  }

  // The result of a row: its sum of products divided by its sum of weights.
  Expr normalised(const Expr &sum, const std::function<Expr(int)> &statistic) const {
    const Expr l = statistic(f_.running.rows - 1);
    if (s_.weights < 0) return sum;
    // One division per row, not one per element: at 128 keys those would take a twelfth of the
    // time. The sum of a softmax is at least 1; other sums may be too small to have a reciprocal.
    // A row without weights gives 0, or NaN if a visible value is NaN.
    const Expr none = math::is_zero(l), zero = number(0);
    if (less_maximum_) {
      const Expr nan = number(std::numeric_limits<double>::quiet_NaN());
      const Expr of_infinities = strict::equal(statistic(2), lowest());
      return strict::mul(sum, select(of_infinities, nan, none, zero, 1.f / l));
    }
    if (f_.running.has_maximum) return sum * select(none, zero, 1.f / l);
    return select(none, strict::mul(sum, zero), strict::div(sum, l));
  }

  // One sweep for both: column `columns` holds the lse; the two roots are copied from it.
  void two_results(const std::function<Expr(Expr, Expr)> &o, const Expr &lse, const Expr &c) {
    const Expr n = f_.result.has_column ? c_.size(s_.column) : Expr(1);
    f_.result.out = Func("out_and_lse_" + name_);
    std::vector<Var> vars = {f_.v.c};
    if (f_.result.has_row) vars.push_back(f_.result.row);
    vars.insert(vars.end(), f_.result.outer.begin(), f_.result.outer.end());
    // a thread that holds the column of the lse has a cell for it; lanes end with the values
    const Expr oc =
        f_.tile.dealt_to_threads() ? Expr(f_.v.c) : Halide::min(f_.v.c, Halide::max(n, 1) - 1);
    f_.result.out(vars) = select(f_.v.c < n, o(oc, f_.v.c), lse);
    const auto read = [&](Expr column) {
      std::vector<Expr> args(vars.begin(), vars.end());
      args[0] = std::move(column);
      return f_.result.out(args);
    };
    // First the lse: the steps after the result may read it.
    const Func second = stored(s_.roots[1], s_.lse, read(n));
    f_.result.copies = {stored(s_.roots[0], s_.core, read(c)), second};
  }

  // A stored step, where `core` (the result or the lse) has this value.
  Func stored(node_id root, node_id core, const Expr &value) {
    return stored_step(c_, root, core, value, out_vars_,
                       [&](const Expr &e) { return unsolved(e, f_.result.outer); });
  }

  context &c_;
  const program &p_;
  const attention_stage &s_;
  const Halide::Type type_;  // of scores, weights and values
  attention_funcs f_;
  const indices outer_;  // the position of the tile along them
  attention_tiles tiles_;
  std::map<axis_id, Var> out_vars_;
  const std::string unknown_ = "product_of_pair";
  std::string name_;
  bool gaps_ = false;              // some pairs may not count
  bool marked_by_scores_ = false;  // some masks depend on products of the tile
  bool less_maximum_ = false;
  Expr rows_, keys_, limit_;
  bool limit_is_chosen_ = false;
};

}  // namespace

attention_funcs lower_attention(context &c, const attention_stage &s, const attention_tile &tile) {
  return attention_lowering(c, s, tile).run();
}

}  // namespace qkv::codegen
