// SPDX-License-Identifier: BSL-1.0
// Functions, arithmetic, choices and masks. Axes that an operand lacks are summed.
#include <cmath>
#include <numbers>

#include "codegen/gradient/rules.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen::adjoint {
namespace {

// 2 / sqrt(pi) exp(-x^2)
node_id slope_of_erf(formulas &f, node_id x) {
  return f.scaled(f.unary(op::exp, f.neg(f.mul(x, x))), 2 * std::numbers::inv_sqrtpi);
}

// Phi(x) + x phi(x), with the distribution and the density of the normal distribution.
node_id slope_of_gelu(formulas &f, node_id x) {
  const node_id one = f.number(1, f.type(x));
  const node_id scaled = f.scaled(x, 1 / std::numbers::sqrt2);
  const node_id distribution = f.scaled(f.add(f.unary(op::erf, scaled), one), 0.5);
  const node_id density = f.scaled(slope_of_erf(f, scaled), 0.5 / std::numbers::sqrt2);
  return f.add(distribution, f.mul(x, density));
}

// f'(x), from x and y = f(x); at a kink, the slope on the left for relu and elu.
node_id slope(formulas &f, op kind, node_id x, node_id y) {
  const dtype t = f.type(y);
  const node_id one = f.number(1, t);
  const auto rest = [&](node_id part) { return f.sub(one, part); };
  switch (kind) {
    case op::exp:
      return y;
    case op::log:
      return f.div(one, x);
    case op::tanh:
      return rest(f.mul(y, y));
    case op::sigmoid:
      return f.mul(y, rest(y));
    case op::gelu:
      return slope_of_gelu(f, x);
    case op::silu: {
      const node_id s = f.unary(op::sigmoid, x);
      return f.mul(s, f.add(one, f.mul(x, rest(s))));
    }
    case op::elu:
      return f.where(f.binary(op::greater, x, f.number(0, t)), one, f.unary(op::exp, x));
    case op::softplus:
      return f.unary(op::sigmoid, x);
    case op::sqrt:
      return f.div(f.number(0.5, t), y);
    case op::rsqrt:
      return f.scaled(f.mul(y, f.mul(y, y)), -0.5);
    case op::erf:
      return slope_of_erf(f, x);
    case op::cos:
      return f.neg(f.unary(op::sin, x));
    case op::sin:
      return f.unary(op::cos, x);
    default:
      return no_node;
  }
}

// min and max: the selected operand gets g, equal ones share.
void share(reverse &r, node_id n, node_id g) {
  formulas &f = r.f;
  const node &x = r.forward[n];
  const node_id zero = f.number(0, f.type(g)), half = f.scaled(g, 0.5);
  const op wins = x.kind == op::max ? op::greater : op::less;
  for (const std::size_t k : {0, 1}) {
    const node_id own = r.value(x.in[k], n), other = r.value(x.in[1 - k], n);
    r.give(x.in[k], f.where(f.binary(op::equal, own, other), half,
                            f.where(f.binary(wins, own, other), g, zero)));
  }
}

// a^b: b a^(b-1) and a^b log(a).
void power(reverse &r, node_id n, node_id g) {
  formulas &f = r.f;
  const node &x = r.forward[n];
  const node_id a = r.value(x.in[0], n), b = r.value(x.in[1], n);
  const dtype t = f.type(g);
  const node_id zero = f.number(0, t);
  if (r.wants(x.in[0])) {
    const node_id less = r.forward[x.in[1]].kind == op::number
                             ? f.number(r.forward[x.in[1]].value - 1, t)
                             : f.sub(b, f.number(1, t));
    const node_id slope = f.mul(b, f.binary(op::pow, a, less));
    r.give(x.in[0], f.mul(g, f.where(f.binary(op::equal, b, zero), zero, slope)));
  }
  if (r.wants(x.in[1])) {
    const node_id slope = f.mul(r.value(n, n), f.unary(op::log, a));
    r.give(x.in[1], f.mul(g, f.where(f.binary(op::greater, a, zero), slope, zero)));
  }
}

void quotient(reverse &r, node_id n, node_id g) {
  formulas &f = r.f;
  const node &x = r.forward[n];
  const node_id b = r.value(x.in[1], n);
  if (r.wants(x.in[0])) r.give(x.in[0], f.div(g, b));
  if (!r.wants(x.in[1])) return;
  const node_id y = r.factor(n, n);
  const node_id sum = f.dot(g, y, without(with(f.shape(g), f.shape(y)), f.shape(b)));
  r.give(x.in[1], f.neg(f.div(sum, b)));
}

}  // namespace

void unary_rule(reverse &r, node_id n, node_id g) {
  formulas &f = r.f;
  const node &x = r.forward[n];
  const node_id a = x.in[0];
  if (x.kind == op::cast) return r.give(a, g);
  if (x.kind == op::neg) return r.give(a, f.neg(g));
  const node_id from = r.value(a, n), zero = f.number(0, f.type(g));
  const node_id is_positive = f.binary(op::greater, from, zero);
  if (x.kind == op::relu) return r.give(a, f.where(is_positive, g, zero));
  if (x.kind == op::abs) {
    const node_id is_negative = f.binary(op::less, from, zero);
    return r.give(a, f.where(is_positive, g, f.where(is_negative, f.neg(g), zero)));
  }
  const node_id s = slope(f, x.kind, from, r.value(n, n));
  if (s == no_node) throw r.refusal(n, std::string(name_of(x.kind)) + " has no gradient");
  r.give(a, f.mul(g, s));
}

void arithmetic_rule(reverse &r, node_id n, node_id g) {
  const node &x = r.forward[n];
  switch (x.kind) {
    case op::add:
      r.give(x.in[0], g);
      return r.give(x.in[1], g);
    case op::sub:
      r.give(x.in[0], g);
      return r.give(x.in[1], r.f.neg(g));
    case op::mul:
      for (const std::size_t k : {0, 1})
        if (r.wants(x.in[k])) r.give_product(x.in[k], g, r.factor(x.in[1 - k], n));
      return;
    case op::div:
      return quotient(r, n, g);
    case op::pow:
      return power(r, n, g);
    case op::min:
    case op::max:
      return share(r, n, g);
    default:
      throw r.refusal(n, std::string(name_of(x.kind)) + " has no gradient");
  }
}

// The branch that is not chosen has no adjoint: its slope may be infinite, as that of log(x) at 0.
void choice_rule(reverse &r, node_id n, node_id g) {
  formulas &f = r.f;
  const node &x = r.forward[n];
  const node_id condition = r.here.filled(r.forward_values.value(x.in[0]));
  if (r.wants(x.in[1])) r.give(x.in[1], f.mask(g, condition));
  if (r.wants(x.in[2])) r.give(x.in[2], f.mask(g, f.unary(op::not_, condition)));
}

// The adjoint is already limited to the elements that are present.
void mask_rule(reverse &r, node_id n, node_id g) { r.give(r.forward[n].in[0], g); }

}  // namespace qkv::codegen::adjoint
