// SPDX-License-Identifier: BSL-1.0
// Interval arithmetic over a mask: each comparison that is affine in the key's index bounds it from
// one side.
//   index(kv) <= index(seq)                 ->  to   = last + 1
//   index(seq) - index(kv) < 512            ->  from = first - 511
//   index(kv) < len                         ->  to   = len[batch]
//   abs(index(seq) - index(kv)) < 512       ->  both, since a magnitude is the larger of x and -x
#include "codegen/halide/lower/key_range.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <qkv/core/axis.hpp>

#include "codegen/halide/lower/expression.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;

// coefficient * index(key) + a number between low and high. The bounds have 64 bits if an operand
// may be as large as an i32, so that they never wrap around. `holds` is true if no sum of the spec,
// which is of i32, wraps around; it is undefined if none can.
struct affine {
  int coefficient = 0;
  Expr low, high, holds{};
};

// Bounds beyond every position mean the same as the last one.
Expr as_position(const Expr &bound) {
  if (bound.type().bits() < 64) return bound;
  return Halide::cast<int>(Halide::clamp(bound, 0, static_cast<int>(core::longest_axis)));
}

// Returns the bound if no sum wraps around, else `none`.
Expr where_it_holds(const Expr &holds, const Expr &bound, std::int64_t none) {
  return holds.defined() ? Halide::select(holds, bound, static_cast<int>(none)) : bound;
}

class ranges {
 public:
  ranges(const context &c, const attention_stage &s, const row_range &rows, const indices &outer)
      : c_(c), s_(s), rows_(rows), outer_(outer) {}

  // Every mask that the scores passed on their way through pointwise steps counts.
  key_range of_scores(node_id n) {
    if (auto it = seen_.find(n); it != seen_.end()) return it->second;
    return seen_[n] = passed(n);
  }

  // Where elements of the step may be absent.
  std::vector<key_range> hidden(node_id n) const {
    const node &x = c_.p[n];
    if (!c_.has_gaps[n]) return {};
    std::vector<key_range> all;
    const auto add = [&](const std::vector<key_range> &more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    if (x.kind == op::mask && !c_.has_gaps[x.in[1]]) {
      add(hidden(x.in[0]));
      add(where_false(x.in[1]));
    } else if (is_pointwise(x.kind) && x.kind != op::where && !c_.is_stored(n)) {
      for (node_id operand : x.in) add(hidden(operand));
    } else {
      all.emplace_back();
    }
    return all;
  }

  static key_range hull(const key_range &a, const key_range &b) {
    key_range r;
    if (a.from.defined() && b.from.defined()) r.from = Halide::min(a.from, b.from);
    if (a.to.defined() && b.to.defined()) r.to = Halide::max(a.to, b.to);
    r.is_chosen = a.is_chosen || b.is_chosen;
    return r;
  }

 private:
  key_range passed(node_id n) {
    const node &x = c_.p[n];
    if (x.kind == op::mask) return intersection(of_scores(x.in[0]), of_condition(x.in[1]));
    key_range r;
    if ((is_unary(x.kind) || is_binary(x.kind)) && !c_.is_stored(n))
      for (node_id operand : x.in) r = intersection(r, of_scores(operand));
    return r;
  }

  static key_range intersection(key_range a, const key_range &b) {
    if (b.from.defined()) a.from = a.from.defined() ? Halide::max(a.from, b.from) : b.from;
    if (b.to.defined()) a.to = a.to.defined() ? Halide::min(a.to, b.to) : b.to;
    a.is_chosen = a.is_chosen || b.is_chosen;
    return a;
  }

  key_range of_condition(node_id n) const {
    const node &x = c_.p[n];
    if (c_.is_stored(n)) return {};
    if (x.kind == op::and_) return intersection(of_condition(x.in[0]), of_condition(x.in[1]));
    if (x.kind == op::or_) return hull(of_condition(x.in[0]), of_condition(x.in[1]));
    if (x.kind == op::broadcast) return of_condition(x.in[0]);
    switch (x.kind) {
      case op::less:
        return at_most(x.in[0], x.in[1], 1);
      case op::less_equal:
        return at_most(x.in[0], x.in[1], 0);
      case op::greater:
        return at_most(x.in[1], x.in[0], 1);
      case op::greater_equal:
        return at_most(x.in[1], x.in[0], 0);
      case op::equal:
        return intersection(at_most(x.in[0], x.in[1], 0), at_most(x.in[1], x.in[0], 0));
      default:
        return {};
    }
  }

  // The ranges outside of which the condition is true for every row.
  std::vector<key_range> where_false(node_id n) const {
    const node &x = c_.p[n];
    if (c_.is_stored(n)) return {key_range()};
    switch (x.kind) {
      case op::broadcast:
        return where_false(x.in[0]);
      case op::and_: {
        std::vector<key_range> all = where_false(x.in[0]);
        const std::vector<key_range> more = where_false(x.in[1]);
        all.insert(all.end(), more.begin(), more.end());
        return all;
      }
      case op::or_: {
        std::vector<key_range> all;
        for (const key_range &a : where_false(x.in[0]))
          for (const key_range &b : where_false(x.in[1])) all.push_back(intersection(a, b));
        return all;
      }
      case op::not_:
        return {of_condition(x.in[0])};
      case op::less:
        return {at_most(x.in[1], x.in[0], 0)};
      case op::less_equal:
        return {at_most(x.in[1], x.in[0], 1)};
      case op::greater:
        return {at_most(x.in[0], x.in[1], 0)};
      case op::greater_equal:
        return {at_most(x.in[0], x.in[1], 1)};
      default:
        return {key_range()};
    }
  }

  // small + strict <= large
  key_range at_most(node_id small, node_id large, int strict) const {
    key_range r;
    for (const affine &a : terms(small, op::max))
      for (const affine &b : terms(large, op::min)) r = intersection(r, at_most(a, b, strict));
    return r;
  }
  static key_range at_most(const affine &a, const affine &b, int strict) {
    key_range r;
    const int k = a.coefficient - b.coefficient;
    Expr low = a.low - b.high + strict;  // k * key + low <= 0 must be possible
    const Expr holds = both(a.holds, b.holds);
    r.is_chosen = holds.defined();
    if (k == 1) r.to = where_it_holds(holds, as_position(1 - low), core::longest_axis);
    if (k == -1) r.from = where_it_holds(holds, as_position(low), 0);
    return r;
  }

  // Adds to `holds` that a sum of the spec stays within i32.
  affine checked(affine x) const {
    if (x.low.type().bits() < 64) return x;
    const Expr keys = Halide::cast<std::int64_t>(c_.extent(s_.key)) * x.coefficient;
    const auto fits = [](const Expr &e) {
      return e == Halide::cast<std::int64_t>(Halide::cast<int>(e));
    };
    x.holds =
        both(x.holds, fits(x.low + Halide::min(keys, 0)) && fits(x.high + Halide::max(keys, 0)));
    return x;
  }

  // Terms none of which is above the step (`extreme` is max) or below it (min).
  std::vector<affine> terms(node_id n, op extreme) const {
    const node &x = c_.p[n];
    std::vector<affine> all;
    const auto add = [&](node_id operand) {
      for (affine &a : terms(operand, extreme)) all.push_back(std::move(a));
    };
    if (x.kind == extreme && x.type == i32 && varies(x)) {
      add(x.in[0]), add(x.in[1]);
    } else if (x.kind == op::abs && x.type == i32 && varies(x) && extreme == op::max) {
      if (const auto one = of_index(x.in[0])) all = {*one, negative(*one)};
    } else if (const auto one = of_index(n)) {
      all = {*one};
    }
    return all;
  }
  bool varies(const node &x) const {
    return has(x.shape, s_.key) || std::any_of(rows_.begin(), rows_.end(), [&](const auto &row) {
             return has(x.shape, row.first);
           });
  }
  affine negative(const affine &a) const {
    return checked({-a.coefficient, -a.high, -a.low, a.holds});
  }

  std::optional<affine> of_index(node_id n) const {
    const node &x = c_.p[n];
    const auto constant = [](const Expr &e) { return affine{0, e, e}; };
    if (x.kind == op::number && x.value == std::floor(x.value) && std::fabs(x.value) < 1e9) {
      const int number = static_cast<int>(x.value);
      return constant(std::abs(number) < 1 << 20 ? Expr(number)
                                                 : Halide::cast<std::int64_t>(number));
    }
    if (x.kind == op::size) return constant(c_.size(x.over[0]));
    if (x.type != i32) return std::nullopt;
    if (x.kind == op::index && x.over[0] == s_.key) return affine{1, 0, 0};
    if (x.kind == op::index)
      if (auto it = rows_.find(x.over[0]); it != rows_.end())
        return affine{0, it->second.first, it->second.last};
    if (x.kind == op::add || x.kind == op::sub) {
      auto a = of_index(x.in[0]), b = of_index(x.in[1]);
      if (!a || !b) return std::nullopt;
      const Expr holds = both(a->holds, b->holds);
      if (is_position_in_whole(c_.p, x))
        return affine{a->coefficient + b->coefficient, a->low + b->low, a->high + b->high};
      if (x.kind == op::add)
        return checked(
            {a->coefficient + b->coefficient, a->low + b->low, a->high + b->high, holds});
      return checked({a->coefficient - b->coefficient, a->low - b->high, a->high - b->low, holds});
    }
    if (x.kind == op::neg) {
      auto a = of_index(x.in[0]);
      if (!a) return std::nullopt;
      return negative(*a);
    }
    if (varies(x)) return std::nullopt;
    value v = expression(c_).at(n, outer_);  // the same for the whole tile
    if (v.present.defined()) return std::nullopt;
    return constant(x.is_position ? v.number : Halide::cast<std::int64_t>(v.number));
  }

  const context &c_;
  const attention_stage &s_;
  const row_range &rows_;
  const indices &outer_;
  std::map<node_id, key_range> seen_;
};

}  // namespace

key_range visible_keys(const context &c, const attention_stage &s, const row_range &rows,
                       const indices &outer) {
  ranges r(c, s, rows, outer);
  if (s.is_normalised()) return r.of_scores(s.scores);
  key_range all = r.of_scores(s.sums[0].pairs);
  for (const weighted_sum &sum : all_sums(s))
    if (sum.pairs != s.sums[0].pairs) all = ranges::hull(all, r.of_scores(sum.pairs));
  return all;
}

std::vector<key_range> hidden_keys(const context &c, const attention_stage &s,
                                   const weighted_sum &sum, const row_range &rows,
                                   const indices &outer) {
  const ranges r(c, s, rows, outer);
  if (!s.is_normalised()) return r.hidden(sum.pairs);
  std::vector<key_range> all = r.hidden(s.scores);
  if (sum.gate == no_step) return all;
  const std::vector<key_range> of_gate = r.hidden(sum.gate);
  all.insert(all.end(), of_gate.begin(), of_gate.end());
  return all;
}

}  // namespace qkv::codegen
