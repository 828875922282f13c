// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/reductions.hpp"

#include <limits>
#include <stdexcept>

#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::select;

Expr plus(Expr a, Expr b) { return strict::add(a, strict::hide_zero(b)); }
Expr number(const node &n, double x) { return math::constant(halide_type(n.type), x); }
// The maximum or minimum of no elements.
Expr lowest_of(const node &n) {
  return n.type == i32 ? Halide::Int(32).min() : number(n, -math::infinity);
}
Expr highest_of(const node &n) {
  return n.type == i32 ? Halide::Int(32).max() : number(n, math::infinity);
}

// exp(x - m). A row of only -inf counts as empty, unless the spec subtracts the maximum itself.
Expr shifted(const node &n, const Expr &x, const Expr &m) {
  if (n.less_maximum) return math::exp_nonpositive(strict::sub(x, m));
  return math::exp_nonpositive(strict::sub(
      x, select(strict::less(m, math::lowest(m.type())), math::constant(m.type(), 0), m)));
}

}  // namespace

Expr reductions::logsumexp(const Expr &m, const Expr &l) {
  const Expr infinity = math::constant(m.type(), math::infinity);
  const Expr finite_or_nan = select(strict::less(m, infinity), strict::add(m, math::log(l)), m);
  return select(math::is_zero(l), -infinity, finite_or_nan);
}

Expr reductions::zero_of(const node &n) { return number(n, 0); }

value reductions::operand(const node &n, const indices &at) const {
  value v = read_(n.in[0], at);
  v.number = strict::cast(halide_type(n.type), v.number);
  return v;
}

Expr reductions::sum_of(const node &n, const std::string &what,
                        const std::function<value(const indices &)> &of) const {
  return run_(n, {what, zero_of(n), plus, of, n.type != i32});
}

Expr reductions::maximum(const node &n) const {
  return run_(
      n, {"max", lowest_of(n), math::larger, [&](const indices &at) { return operand(n, at); }});
}

// sum exp(x - m)
Expr reductions::total(const node &n, const Expr &m) const {
  return sum_of(n, "total", [&, m](const indices &at) {
    const value v = operand(n, at);
    return value{shifted(n, v.number, m), v.present};
  });
}

// Number of elements that mean() divides by: all of them, unless mask() may have removed some.
Expr reductions::count_of(const node &n) const {
  if (c_.masked[n.in[0]])
    return sum_of(n, "count",
                  [&](const indices &at) { return value{number(n, 1), operand(n, at).present}; });
  Expr count = number(n, 1);
  for (axis_id a : n.over) count = count * Halide::cast(halide_type(n.type), c_.size(a));
  return count;
}

value reductions::at(const node &n, const indices &here) const {
  const auto own = [&](const indices &at) { return operand(n, at); };
  switch (n.kind) {
    case op::sum:
      return {sum_of(n, "sum", own), {}};
    case op::max_over:
      return {maximum(n), {}};
    case op::min_over:
      return {run_(n, {"min", highest_of(n), math::smaller, own}), {}};
    case op::mean: {
      const Expr sum = sum_of(n, "sum", own), count = count_of(n);
      return {select(math::is_zero(count), zero_of(n), strict::div(sum, count)), {}};
    }
    case op::logsumexp: {
      const Expr m = maximum(n), l = total(n, m);
      return {logsumexp(m, l), {}};
    }
    case op::softmax: {
      const Expr m = maximum(n), l = total(n, m);
      const value v = operand(n, here);
      const value w = {strict::div(shifted(n, v.number, m), l), v.present};
      return {select(math::is_zero(l), zero_of(n), or_else(w, zero_of(n))), {}};
    }
    case op::normalize: {
      const Expr l = sum_of(n, "total", own);
      const value v = operand(n, here);
      const value w = {strict::div(v.number, l), v.present};
      return {select(math::is_zero(l), zero_of(n), or_else(w, zero_of(n))), {}};
    }
    case op::dot: {
      const auto term = [&](const indices &at) {
        return product(read_(n.in[0], at), read_(n.in[1], at), halide_type(n.type));
      };
      return {sum_of(n, "dot", term), {}};
    }
    default:
      throw std::logic_error("no fold for " + std::string(name_of(n.kind)));
  }
}

}  // namespace qkv::codegen
