// SPDX-License-Identifier: BSL-1.0
// Interval arithmetic over a mask: what varies along the rows alone lies between two numbers in a
// tile, and what varies along the keys alone does in a block.
//   document == document[kv]         the two intervals overlap
//   position[kv] <= position[seq]    the least one of the block is at most the largest of the tile
//   keep[kv]                         one of the block is kept
#include "codegen/halide/lower/visible_blocks.hpp"

#include <functional>
#include <limits>
#include <optional>

#include "codegen/halide/lower/expression.hpp"
#include "codegen/halide/lower/unsolved.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Internal::const_false;
using Halide::Internal::const_true;

// True if a condition may hold for some pair; if it must for all. Undefined: unknown.
struct outcome {
  Expr may, must;
};

// Of 64 bits. `holds` is true if no sum of the spec, which is of i32, wraps around; undefined if
// none can.
struct interval {
  Expr low, high, holds{};
};

Expr either(const Expr &a, const Expr &b) {
  if (!a.defined()) return b;
  return b.defined() ? a || b : a;
}
Expr only_both(const Expr &a, const Expr &b, const std::function<Expr(Expr, Expr)> &combined) {
  return a.defined() && b.defined() ? combined(a, b) : Expr();
}
Expr negated(const Expr &e) { return e.defined() ? !e : e; }

class blocks {
 public:
  blocks(attention_setting &a, const Expr &tile, const Expr &block)
      : a_(a), p_(a.p), tile_(tile), block_(block) {}

  Expr visible() {
    Expr any;
    if (a_.s.is_normalised()) {
      any = of_scores(a_.s.scores);
    } else {
      const std::vector<weighted_sum> sums = all_sums(a_.s);
      any = of_scores(sums[0].pairs);
      for (const weighted_sum &sum : sums)
        if (sum.pairs != sums[0].pairs)
          any = only_both(any, of_scores(sum.pairs),
                          [](const Expr &x, const Expr &y) { return x || y; });
    }
    return extremes_.empty() || !any.defined() ? Expr() : any;
  }

 private:
  // Every mask that the scores passed on their way through pointwise steps counts.
  Expr of_scores(node_id n) {
    if (auto it = seen_.find(n); it != seen_.end()) return it->second;
    const node &x = p_[n];
    Expr may;
    if (x.kind == op::mask)
      may = both(of_scores(x.in[0]), of_condition(x.in[1]).may);
    else if ((is_unary(x.kind) || is_binary(x.kind)) && !a_.c.is_stored(n))
      for (node_id operand : x.in) may = both(may, of_scores(operand));
    return seen_[n] = may;
  }

  outcome of_condition(node_id n) {
    const node &x = p_[n];
    if (is_of_one_side(n)) return extremes_of_condition(n);
    switch (x.kind) {
      case op::broadcast:
        return of_condition(x.in[0]);
      case op::and_: {
        const outcome a = of_condition(x.in[0]), b = of_condition(x.in[1]);
        return {both(a.may, b.may),
                only_both(a.must, b.must, [](const Expr &l, const Expr &r) { return l && r; })};
      }
      case op::or_: {
        const outcome a = of_condition(x.in[0]), b = of_condition(x.in[1]);
        return {only_both(a.may, b.may, [](const Expr &l, const Expr &r) { return l || r; }),
                either(a.must, b.must)};
      }
      case op::not_: {
        const outcome a = of_condition(x.in[0]);
        return {negated(a.must), negated(a.may)};
      }
      default:
        return of_comparison(x);
    }
  }

  outcome of_comparison(const node &x) {
    const bool compares = x.kind == op::less || x.kind == op::less_equal || x.kind == op::greater ||
                          x.kind == op::greater_equal || x.kind == op::equal ||
                          x.kind == op::not_equal;
    if (!compares || p_[x.in[0]].type != i32 || p_[x.in[1]].type != i32) return {};
    const std::optional<interval> a = of_number(x.in[0]), b = of_number(x.in[1]);
    if (!a || !b) return {};
    outcome o = compared(x.kind, *a, *b);
    if (const Expr holds = both(a->holds, b->holds); holds.defined())
      o = {!holds || o.may, holds && o.must};
    return o;
  }

  static outcome compared(op kind, const interval &a, const interval &b) {
    switch (kind) {
      case op::less:
        return {a.low < b.high, a.high < b.low};
      case op::less_equal:
        return {a.low <= b.high, a.high <= b.low};
      case op::greater:
        return {a.high > b.low, a.low > b.high};
      case op::greater_equal:
        return {a.high >= b.low, a.low >= b.high};
      case op::equal:
        return {a.low <= b.high && b.low <= a.high, a.low == b.high && b.low == a.high};
      default: {
        const outcome same = compared(op::equal, a, b);
        return {!same.must, !same.may};
      }
    }
  }

  std::optional<interval> of_number(node_id n) {
    const node &x = p_[n];
    if (is_of_one_side(n)) return extremes_of(n);
    if (x.kind == op::number || x.kind == op::index || x.kind == op::size || x.is_position)
      return position_of(n);
    if (x.kind == op::broadcast) return of_number(x.in[0]);
    if (x.kind == op::neg) {
      const auto a = of_number(x.in[0]);
      if (!a) return a;
      return checked({-a->high, -a->low, a->holds});
    }
    if (x.in.size() != 2) return std::nullopt;
    const auto a = of_number(x.in[0]), b = of_number(x.in[1]);
    if (!a || !b) return std::nullopt;
    const Expr holds = both(a->holds, b->holds);
    switch (x.kind) {
      case op::add: {
        const interval sum{a->low + b->low, a->high + b->high, holds};
        return is_position_in_whole(p_, x) ? sum : checked(sum);
      }
      case op::sub:
        return checked({a->low - b->high, a->high - b->low, holds});
      case op::min:
        return interval{Halide::min(a->low, b->low), Halide::min(a->high, b->high), holds};
      case op::max:
        return interval{Halide::max(a->low, b->low), Halide::max(a->high, b->high), holds};
      default:
        return std::nullopt;
    }
  }

  static interval checked(interval x) {
    const auto fits = [](const Expr &e) {
      return e == Halide::cast<std::int64_t>(Halide::cast<int>(e));
    };
    x.holds = both(x.holds, fits(x.low) && fits(x.high));
    return x;
  }

  // A value of memory that varies along the rows or the keys alone. A product of one query with the
  // keys is none: it is computed block by block.
  bool is_of_one_side(node_id n) {
    if (a_.c.is_stored(n)) return true;
    return !varies_both_ways(n) && a_.tiles.reads_memory(n) && !is_made_of_products(n);
  }

  bool is_made_of_products(node_id n) const {
    return depends_on(
        p_, n, [&](node_id m) { return has(a_.s.products, m); },
        [&](node_id m) { return !a_.c.is_stored(m); });
  }

  std::optional<interval> position_of(node_id n) const {
    const node &x = p_[n];
    const bool of_key = x.kind == op::index && x.over[0] == a_.s.key;
    const bool of_row = x.kind == op::index && has(a_.tiles.rows(), x.over[0]);
    if (of_row && a_.tiles.rows().size() > 1) return std::nullopt;
    if (!of_key && !of_row) {
      const Expr v = number(n, a_.outer);
      return v.defined() ? std::optional<interval>({v, v}) : std::nullopt;
    }
    const int size = of_key ? a_.f.tile.keys : a_.f.tile.rows;
    const Expr first = Halide::cast<std::int64_t>((of_key ? block_ : tile_) * size);
    return interval{first, first + (size - 1)};
  }

  bool varies_both_ways(node_id n) const {
    return has(p_[n].shape, a_.s.key) && a_.tiles.has_row(n);
  }

  outcome extremes_of_condition(node_id n) {
    const auto x = extremes_of(n);
    if (!x) return {};
    return {x->high != 0, x->low != 0};
  }

  // Of a value that varies along one of both, or neither; a condition counts as 0 or 1.
  std::optional<interval> extremes_of(node_id n) {
    const node &x = p_[n];
    if ((x.type != i32 && x.type != b8) || varies_both_ways(n)) return std::nullopt;
    const bool of_key = has(x.shape, a_.s.key);
    if (!of_key && !a_.tiles.has_row(n)) {
      const Expr v = number(n, a_.outer);
      return v.defined() ? std::optional<interval>({v, v}) : std::nullopt;
    }
    const auto low = extreme(n, of_key, true), high = extreme(n, of_key, false);
    if (!low || !high) return std::nullopt;
    return interval{*low, *high};
  }

  Expr number(node_id n, const indices &at) const {
    const value v = expression(a_.c).at(n, at);
    if (v.present.defined()) return {};
    return Halide::cast<std::int64_t>(Halide::cast<int>(v.number));
  }

  // The least or the largest number of a block of keys, or of a tile of rows.
  std::optional<Expr> extreme(node_id n, bool of_key, bool least) {
    const Halide::Var at("at");
    const Halide::RDom r(0, of_key ? a_.f.tile.keys : a_.f.tile.rows, "of_extreme");
    indices here = a_.outer;
    if (of_key)
      here[a_.s.key] = a_.c.within(a_.s.key, at * a_.f.tile.keys + r.x);
    else
      for (const auto &[axis, row] : a_.tiles.row(r.x, at)) here[axis] = row;
    const value v = expression(a_.c).at(n, here);
    if (v.present.defined()) return std::nullopt;
    const Expr own = opaque(Halide::cast<int>(v.number));  // Halide would trim the loop by it
    Func g((least ? "least_" : "largest_") + context::label(p_, n));
    std::vector<Expr> place = {at}, wanted = {of_key ? block_ : tile_};
    for (const Halide::Var &v : a_.tiles.outer_dimensions(n)) {
      place.push_back(v);
      wanted.push_back(v);
    }
    using bounds = std::numeric_limits<int>;
    g(place) = least ? bounds::max() : bounds::min();
    g(place) = least ? Halide::min(g(place), own) : Halide::max(g(place), own);
    extremes_.push_back(g);
    a_.f.reads.extremes.push_back(g);
    return Halide::cast<std::int64_t>(g(wanted));
  }

  attention_setting &a_;
  const program &p_;
  const Expr tile_, block_;
  std::map<node_id, Expr> seen_;
  std::vector<Func> extremes_;
};

}  // namespace

Expr may_see(attention_setting &a, const Expr &tile, const Expr &block) {
  return a.on_threads() ? Expr() : blocks(a, tile, block).visible();
}

}  // namespace qkv::codegen
