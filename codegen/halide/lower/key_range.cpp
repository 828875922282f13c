// SPDX-License-Identifier: BSL-1.0
// Interval arithmetic over a mask: each comparison that is affine in the key's index bounds it from
// one side.
//   index(kv) <= index(seq)                 ->  to   = last + 1
//   index(seq) - index(kv) < 512            ->  from = first - 511
//   index(kv) < len                         ->  to   = len[batch]
//   abs(index(seq) - index(kv)) < 512       ->  both, since a magnitude is the larger of x and -x
//   4 * index(mem) + 3 <= index(seq)        ->  to   = (last - 3) / 4 + 1
//   i32(index(kv) / 64) == i32(index(seq) / 64)  ->  both: of whole chunks
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

// coefficient * (index(key) / chunk) + a number between low and high. The bounds have 64 bits if an
// operand may be as large as an i32, so that they never wrap around. `holds` is true if no sum of
// the spec, which is of i32, wraps around; it is undefined if none can.
struct affine {
  int coefficient = 0;
  Expr low, high, holds{};
  int chunk = 1;
};

// Numbers of i32 are exact as f32 up to 2^24: the quotient of a larger one may belong to a position
// that is so far away.
Expr inexact(const Expr &position) {
  return Halide::cast(position.type(), Halide::abs(position)) >> 21;
}

// True for the types that hold every position below 2^24.
bool keeps_positions(dtype type) { return type == f32 || type == f64; }

// The literal factors and divisors of positions.
constexpr std::int64_t most_positions = 1 << 20;
std::optional<int> whole_number(const node &x, double value) {
  const bool is_whole = x.kind == op::number && value == std::floor(value);
  return is_whole && std::fabs(value) <= double{most_positions}
             ? std::optional(static_cast<int>(value))
             : std::nullopt;
}

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
    if (!are_of_one_chunk(a, b)) return r;
    const int k = a.coefficient - b.coefficient, chunk = chunk_of(a, b);
    Expr low = a.low - b.high + strict;  // k * (key / chunk) + low <= 0 must be possible
    const Expr holds = both(a.holds, b.holds);
    r.is_chosen = holds.defined();
    if (k > 0)
      r.to = where_it_holds(holds, as_position(start_of(divided(-low, k) + 1, chunk, 1)),
                            core::longest_axis);
    if (k < 0)
      r.from = where_it_holds(holds, as_position(start_of(-divided(-low, -k), chunk, -1)), 0);
    return r;
  }

  static bool are_of_one_chunk(const affine &a, const affine &b) {
    return a.coefficient == 0 || b.coefficient == 0 || a.chunk == b.chunk;
  }
  static int chunk_of(const affine &a, const affine &b) {
    return a.coefficient == 0 ? b.chunk : a.chunk;
  }
  static Expr divided(const Expr &n, int by) { return by == 1 ? n : n / by; }

  // Where a chunk starts, or a little below (side -1) or above it (side 1): the f32 quotient of a
  // position beyond 2^24 may be that of the next chunk.
  static Expr start_of(const Expr &n, int chunk, int side) {
    if (chunk == 1) return n;
    const Expr position = Halide::cast<std::int64_t>(n) * chunk;
    return position + side * inexact(position);
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

  static bool is_small(std::int64_t coefficient) { return std::abs(coefficient) <= most_positions; }

  // The sum of a and b, or nothing where they count chunks of several lengths.
  std::optional<affine> sum(const affine &a, const affine &b, bool wraps) const {
    if (!are_of_one_chunk(a, b) || !is_small(a.coefficient + b.coefficient)) return std::nullopt;
    affine x{a.coefficient + b.coefficient, a.low + b.low, a.high + b.high, both(a.holds, b.holds),
             chunk_of(a, b)};
    return wraps ? checked(std::move(x)) : x;
  }

  std::optional<affine> multiple(const affine &a, int factor) const {
    if (factor < 0) return multiple(negative(a), -factor);
    if (!is_small(std::int64_t{a.coefficient} * factor)) return std::nullopt;
    const auto times = [&](const Expr &e) { return Halide::cast<std::int64_t>(e) * factor; };
    return checked({a.coefficient * factor, times(a.low), times(a.high), a.holds, a.chunk});
  }

  // The n of position / n, which is exact at the borders of chunks; a factor is if it is 2^-k.
  std::optional<int> chunk_length(const node &quotient) const {
    if (!keeps_positions(quotient.type) || !is_binary(quotient.kind)) return std::nullopt;
    const node &by = c_.p[unbroadcast(c_.p, quotient.in[1])];
    if (quotient.kind == op::div) return whole_number(by, by.value);
    int exponent;
    const bool is_exact = quotient.kind == op::mul && std::frexp(by.value, &exponent) == 0.5;
    return is_exact ? whole_number(by, 1 / by.value) : std::nullopt;
  }

  // The step of i32 that this one has as floating numbers.
  node_id as_i32(node_id n) const {
    while (c_.p[n].kind == op::broadcast ||
           (c_.p[n].kind == op::cast && keeps_positions(c_.p[n].type)))
      n = c_.p[n].in[0];
    return n;
  }

  // i32(position / n): of which chunk a position is.
  std::optional<affine> chunk_at(const node &quotient) const {
    const auto n = chunk_length(quotient);
    if (!n || *n < 1) return std::nullopt;
    const auto a = of_index(as_i32(quotient.in[0]));
    if (!a || a->chunk != 1 || a->holds.defined()) return std::nullopt;
    const auto is_zero = [](const Expr &e) { return Halide::Internal::is_const_zero(e); };
    if (a->coefficient == 1 && is_zero(a->low) && is_zero(a->high)) return affine{1, 0, 0, {}, *n};
    if (a->coefficient != 0) return std::nullopt;
    return affine{0, (a->low - inexact(a->low)) / *n,
                  Halide::max((a->high + inexact(a->high)) / *n, 0)};
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
  static affine mirrored(const affine &a) {
    return {-a.coefficient, -a.high, -a.low, a.holds, a.chunk};
  }
  affine negative(const affine &a) const { return checked(mirrored(a)); }

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
      const auto a = of_index(x.in[0]), b = of_index(x.in[1]);
      if (!a || !b) return std::nullopt;
      const bool wraps = !is_position_in_whole(c_.p, x);
      return x.kind == op::add ? sum(*a, *b, wraps) : sum(*a, mirrored(*b), wraps);
    }
    if (x.kind == op::mul)
      for (const std::size_t side : {0, 1}) {
        const node &number = c_.p[unbroadcast(c_.p, x.in[side])];
        const auto factor = whole_number(number, number.value);
        const auto a = factor ? of_index(x.in[1 - side]) : std::nullopt;
        if (a) return multiple(*a, *factor);
      }
    if (x.kind == op::broadcast) return of_index(x.in[0]);
    if (x.kind == op::cast)
      if (const auto chunk = chunk_at(c_.p[unbroadcast(c_.p, x.in[0])])) return chunk;
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
