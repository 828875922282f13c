// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/attention_pairs.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/pair_results.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/machines/machine.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::select;

class pairs_lowering {
 public:
  explicit pairs_lowering(attention_form &a) : a_(a), f_(a.f), s_(a.s) {}

  void run() {
    f_.sums.resize(s_.sums.size());
    for (const attention_stage &x : s_.across) f_.across.resize(x.sums.size());
    f_.placed.resize(s_.placed.size());
    needs_unknown_products_ = !a_.on_threads() && may_meet_nan();
    for (node_id d : s_.products) products_.emplace(d, product(d));
    for (node_id n : s_.keeps_sums() ? s_.shared_in_all : s_.shared) share(n);
    f_.pairs.keys = f_.tile.keys_in_lanes() ? a_.block.vectors("key") : a_.block.range("key");
    if (s_.is_normalised()) {
      scores();
      if (f_.running.has_maximum) weights();
      block_sum();
    }
    for (std::size_t k = 0; k < s_.sums.size(); ++k) pairs_of(s_.sums[k], f_.sums[k]);
    for (const attention_stage &x : s_.across)
      for (std::size_t k = 0; k < x.sums.size(); ++k) pairs_of(x.sums[k], f_.across[k]);
    for (std::size_t k = 0; k < s_.placed.size(); ++k) place(s_.placed[k], f_.placed[k]);
  }

 private:
  std::vector<Expr> all() const { return a_.tiles.pair(f_.v.i, f_.v.j); }
  std::vector<Expr> block() const { return a_.tiles.in_tile({f_.v.i}); }
  // The pair of the row and a key of the block that some row of the tile may see.
  std::vector<Expr> visible_pair() const {
    const RDom &keys = f_.pairs.keys;
    const Expr key =
        f_.tile.keys_in_lanes() ? a_.block.trimmed_vector(keys) + lane_ : a_.block.trimmed(keys);
    return a_.tiles.pair(f_.v.i, key);
  }

  // `combined` of all of these pairs of a block, for each row.
  Func over_block(const std::string &name, const Func &pairs, const Expr &first,
                  const std::function<Expr(Expr, Expr)> &combined, lane_fold &fold) const {
    const bool in_lanes = f_.tile.keys_in_lanes();
    std::vector<Expr> cell = block();
    if (in_lanes) cell.insert(cell.begin(), lane_);
    Func g(in_lanes ? name + "_lanes" : name);
    g(cell) = first;
    g(cell) = combined(g(cell), pairs(visible_pair()));
    if (!in_lanes) return g;
    fold.of_lane = g;
    fold_lanes(fold, name, f_.tile.key_lanes, lane_, block(), combined);
    return fold.whole;
  }

  Func product(node_id dot) {
    const int lanes = f_.tile.feature_lanes;
    const Expr zero = math::constant(halide_type(a_.p[dot].type), 0);
    const std::string name = "product_" + context::label(a_.p, dot);
    std::vector<Expr> cell = all();
    if (lanes > 1) cell.insert(cell.begin(), lane_);
    Func s(lanes > 1 ? name + "_lanes" : name);
    s(cell) = zero;
    if (f_.tile.bf16)
      s(cell) += term_of_bf16(f_.tile.bf16->product, lanes);
    else
      s(cell) = strict::plus(s(cell), a_.chosen(or_else(term(dot, lanes), zero)));
    f_.pairs.products.push_back(s);
    if (lanes == 0) return s;
    lane_fold fold;
    fold.of_lane = s;
    constexpr std::size_t key = 1;  // of (i, j, ..)
    add_lanes_of_keys(fold, name, lanes, f_.tile.key_lanes, lane_, all(), key);
    f_.pairs.lanes_of_products.push_back(fold);
    return fold.whole;
  }

  // Two features at a time. The sum leaves out the factors: a pair's product gets them once.
  Expr term_of_bf16(const tensor_product &x, int lanes) {
    const axis_id feature = a_.p[x.core].over[0];
    const int depth = f_.tile.in_matrix_tiles ? matrix_depth : 2 * std::max(lanes, 1);
    const RDom r({{0, 2}, {0, (x.features + depth - 1) / depth * depth / 2 / std::max(lanes, 1)}},
                 "feature");
    const Expr two = lanes > 1 ? r.y * lanes + lane_ : Expr(r.y);
    indices at = a_.tiles.here();
    at[feature] = two * 2 + r.x;
    f_.pairs.features.push_back({r.x, r.y});
    const Expr row =
        a_.tiles.row_pairs(x.rows, feature)(a_.tiles.with_outer({r.x, f_.v.i, two, f_.v.tile}));
    const Expr key =
        f_.tile.in_matrix_tiles
            ? a_.tiles.key_pairs(x.keys, feature)(a_.tiles.in_block({r.x, f_.v.j, two}))
            : a_.tiles.bf16_at(x.keys, at);
    return Halide::cast<float>(row) * Halide::cast<float>(key);
  }

  static bool compares(op k) {
    return k == op::relu || k == op::elu || k == op::softplus || k == op::log1p;
  }

  bool is_zero(node_id n) const {
    const node &x = a_.p[n];
    if (x.kind == op::broadcast || x.kind == op::neg || x.kind == op::cast) return is_zero(x.in[0]);
    return x.kind == op::number && (x.type == f64 ? x.value : static_cast<float>(x.value)) == 0;
  }

  // True if a step that is made of products is compared, also by what computes a function of it, or
  // multiplied by a literal 0.
  bool may_meet_nan() const {
    std::set<node_id> steps;
    const auto add = [&](node_id n) {
      const auto enter = [&](node_id m) {
        return !has(s_.products, m) && (m == n || is_inlinable(a_.p, m));
      };
      if (n != no_step) walk(a_.p, n, enter, steps);
    };
    if (s_.is_normalised()) add(s_.scores);
    for (const weighted_sum &sum : all_sums(s_)) {
      add(sum.pairs);
      add(sum.gate);
    }
    std::set<node_id> of_products(s_.products.begin(), s_.products.end());
    for (node_id n : steps) {  // operands first
      const node &x = a_.p[n];
      const auto is_made_of_products = [&](node_id m) { return of_products.contains(m); };
      if (!std::ranges::any_of(x.in, is_made_of_products)) continue;
      of_products.insert(n);
      if (core::is_comparison(x.kind) || compares(x.kind)) return true;
      if (x.kind == op::mul && (is_zero(x.in[0]) || is_zero(x.in[1]))) return true;
    }
    return false;
  }

  // Computes operands of products from their tiles.
  expression of_operands() {
    return expression(a_.c, [this](node_id n, const indices &i) {
      auto v = a_.tiles.row_tile(n, i);
      return v ? v : a_.tiles.key_tile(n, i);
    });
  }

  value product_at(const Func &s) {
    Expr number = s(all());
    if (f_.tile.bf16) {
      expression e = of_operands();
      for (node_id factor : f_.tile.bf16->product.factors)
        number = strict::times(number, e.at(factor, a_.tiles.here()).number);
    }
    return {needs_unknown_products_ ? a_.c.unknown_number(number) : number, {}};
  }

  // The product of the operands at the next features, of which each lane has every `lanes`-th.
  value term(node_id dot, int lanes) {
    const std::vector<axis_id> &axes = a_.p[dot].over;
    Halide::Region region;
    for (axis_id x : axes) region.insert(region.begin(), Halide::Range(0, a_.c.size(x)));
    const std::int64_t features = static_size(a_.p, axes.back());
    if (lanes > 1) region[0].extent = (region[0].extent + lanes - 1) / lanes;
    RDom r(region, f_.tile.reads_keys_from_cache() ? "feature_" + no_prefetch_name : "feature");
    indices at = a_.tiles.here();
    std::vector<Halide::RVar> over;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      over.push_back(r[static_cast<int>(d)]);
      at[axes[axes.size() - 1 - d]] = r[static_cast<int>(d)];
    }
    const Expr feature = r[0] * lanes + lane_;
    const bool is_padded = lanes > 1 && features % lanes != 0;
    if (lanes > 1)
      at[axes.back()] = is_padded ? Halide::min(feature, static_cast<int>(features) - 1) : feature;
    f_.pairs.features.push_back(over);
    expression e = of_operands();
    value v = codegen::product(e.at(a_.p[dot].in[0], at), e.at(a_.p[dot].in[1], at),
                               halide_type(a_.p[dot].type));
    if (is_padded)
      v.number = select(feature < static_cast<int>(features), v.number,
                        math::constant(v.number.type(), 0));
    return v;
  }

  // The value of a step at the pair, made of products and shared steps of the tile.
  value at_pair(node_id n) {
    expression e(a_.c, [&](node_id x, const indices &at) -> std::optional<value> {
      if (auto it = products_.find(x); it != products_.end()) return product_at(it->second);
      if (auto it = shared_.find(x); it != shared_.end() && a_.tiles.in_place(x, at))
        return it->second;
      if (auto v = a_.tiles.pair_tile(x, at)) return v;
      return a_.tiles.row_tile(x, at);
    });
    return e.at(n, a_.tiles.here());
  }

  void share(node_id n) {
    value v = at_pair(n);
    Func g("pairs_" + context::label(a_.p, n));
    g(all()) = a_.chosen(v.number);
    v.number = g(all());
    shared_.emplace(n, v);
    f_.pairs.shared.push_back(g);
    f_.pairs.readers.push_back(g);
  }

  bool some_are_not_gated() const {
    return std::any_of(s_.sums.begin(), s_.sums.end(),
                       [](const weighted_sum &sum) { return sum.gate == no_step; });
  }

  void scores() {
    value v = at_pair(s_.scores);
    const Expr count = both(v.present, a_.inside(f_.v.j));
    v.number = Halide::cast(a_.type, v.number);  // scores may be i32 or 16-bit
    if (a_.levels.exist()) v.number = a_.levels.of(v.number);
    v.present = count;
    const bool maximum = f_.running.has_maximum;
    const Expr score = or_else(v, a_.number(maximum ? -math::infinity : 0));
    const bool are_marked = !maximum && a_.hidden.have_marks(a_.hidden.in_weights()) &&
                            (a_.hidden.depend_on_products() || some_are_not_gated());
    f_.pairs.scores = Func("scores_" + a_.name);
    f_.pairs.scores(all()) = a_.chosen(are_marked ? a_.hidden.marked(score, count) : score);
    f_.pairs.readers.push_back(f_.pairs.scores);
    f_.pairs.weights = f_.pairs.scores;
  }

  void weights() {
    f_.pairs.block_max = over_block(
        "max_" + a_.name, f_.pairs.scores, a_.levels.nothing_seen(),
        [](const Expr &x, const Expr &y) { return Halide::max(x, y); }, f_.pairs.lanes_of_max);
    f_.pairs.weights = Func("weights_" + a_.name);
    const Expr score = f_.pairs.scores(all()),
               weight =
                   math::exp_nonpositive(score - a_.levels.shift_of(f_.pairs.block_max(block())));
    const bool marks = a_.hidden.have_marks(a_.hidden.in_weights());
    if (a_.hidden.depend_on_products())
      f_.pairs.weights(all()) =
          a_.chosen(a_.hidden.marked(weight, !strict::equal(score, a_.number(-math::infinity))));
    else if (some_are_not_gated())
      f_.pairs.weights(all()) = a_.chosen(
          marks ? a_.hidden.marked(weight, both(a_.hidden.weight_counts(f_.v.j), a_.inside(f_.v.j)))
                : weight);
    else
      f_.pairs.weights(all()) = weight;
  }

  void block_sum() {
    f_.pairs.block_sum = over_block(
        "sum_" + a_.name, f_.pairs.weights, a_.number(0),
        [](const Expr &x, const Expr &y) { return x + y; }, f_.pairs.lanes_of_sum);
  }

  void pairs_of(const weighted_sum &sum, attention_sum &o) {
    if (!s_.is_normalised())
      o.pairs = function_of_pairs(sum);
    else if (sum.gate == no_step)
      o.pairs = f_.pairs.weights;
    else
      gate(sum, o);
  }

  // Nothing normalises these: a step that several sums need may be the pairs of one.
  Func function_of_pairs(const weighted_sum &sum) {
    if (const auto it = functions_.find(sum.pairs); it != functions_.end()) return it->second;
    value v = at_pair(sum.pairs);
    const Expr count = both(counts(v), a_.inside(f_.v.j));
    v.number = Halide::cast(a_.type, v.number);
    v.present = both(v.present, a_.inside(f_.v.j));
    Expr pair = or_else(v, a_.number(0));
    if (functions_.empty()) pair = storing(pair);
    Func g("pairs_" + context::label(a_.p, sum.core));
    g(all()) =
        a_.chosen(a_.hidden.have_marks(a_.hidden.in(sum)) ? a_.hidden.marked(pair, count) : pair);
    f_.pairs.readers.push_back(g);
    functions_.emplace(sum.pairs, g);
    return g;
  }

  // The first sum's pairs, each of which is computed once: results at each pair are stored then.
  Expr storing(Expr pair) {
    for (axis_id x : summed_at_pairs(a_.p, s_)) f_.result.in_turns.push_back(a_.c.var(x));
    for (const weighted_sum &sum : s_.at_pairs) {
      value v = at_pair(sum.pairs);
      v.number = Halide::cast(a_.type, v.number);
      pair = storing_result(a_, sum, pair, or_else(v, a_.number(0)));
    }
    return pair;
  }

  // Positions are counted from the end: those of a relative table grow along rows then.
  void place(const weighted_sum &sum, attention_placed &o) {
    o.pairs = function_of_pairs(sum);
    o.size = a_.c.extent(sum.column);
    const value v = at_pair(sum.position);
    const Expr last = o.size - 1;
    o.positions = Func("positions_" + context::label(a_.p, sum.core));
    o.positions(all()) = a_.chosen(last - Halide::clamp(or_else(v, 0), 0, last));
    if (!v.present.defined()) return;
    Func present("present_" + context::label(a_.p, sum.core));
    present(all()) = a_.chosen(select(v.present, o.pairs(all()), a_.number(0)));
    f_.pairs.readers.push_back(present);
    o.pairs = present;
  }

  void gate(const weighted_sum &sum, attention_sum &o) {
    expression e(a_.c, [&](node_id n, const indices &at) {
      auto v = a_.tiles.pair_tile(n, at);
      return v ? v : a_.tiles.row_tile(n, at);
    });
    value g = e.at(sum.gate, a_.tiles.here());
    g.number = strict::cast(a_.type, g.number);
    o.gated = true;
    o.pairs = Func("gated_" + context::label(a_.p, sum.core));
    const Expr weight = f_.pairs.weights(all()),
               product = strict::mul(weight, or_else(g, a_.number(0)));
    Expr count = a_.hidden.depend_on_products() ? both(!a_.hidden.is_mark(weight), counts(g))
                                                : a_.hidden.pair_counts(sum, f_.v.j);
    if (a_.hidden.run_past_the_end(sum)) count = both(count, a_.inside(f_.v.j));
    o.pairs(all()) = a_.hidden.have_marks(a_.hidden.in(sum))
                         ? a_.chosen(a_.hidden.marked(product, both(count, a_.inside(f_.v.j))))
                     : !count.defined() ? product
                                        : a_.kept(select(count, product, a_.number(0)));
  }

  attention_form &a_;
  attention_funcs &f_;
  const attention_stage &s_;
  const Halide::Var &lane_ = f_.v.lane;
  std::map<node_id, Func> products_, functions_;
  std::map<node_id, value> shared_;
  bool needs_unknown_products_ = false;
};

}  // namespace

void lower_pairs(attention_form &a) { pairs_lowering(a).run(); }

}  // namespace qkv::codegen
