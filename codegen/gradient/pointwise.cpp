// SPDX-License-Identifier: BSL-1.0
// Functions, arithmetic, choices and masks. Axes that an operand lacks are summed.
#include "codegen/gradient/rules.hpp"
#include "codegen/program/meaning.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen::adjoint {
namespace {

// Steps that are written, as a kind of numbers of meaning.hpp.
struct written_numbers {
  struct T {
    formulas *f;
    node_id n;
  };
  static T number(T like, long double x) {
    return {like.f, like.f->number(static_cast<double>(x), like.f->type(like.n))};
  }
  static T neg(T x) { return {x.f, x.f->neg(x.n)}; }
  static T add(T x, T y) { return {x.f, x.f->add(x.n, y.n)}; }
  static T sub(T x, T y) { return {x.f, x.f->sub(x.n, y.n)}; }
  static T mul(T x, T y) { return {x.f, x.f->mul(x.n, y.n)}; }
  static T div(T x, T y) { return {x.f, x.f->div(x.n, y.n)}; }
  static T less(T x, T y) { return {x.f, x.f->binary(op::less, x.n, y.n)}; }
  static T choose(T condition, T x, T y) { return {x.f, x.f->where(condition.n, x.n, y.n)}; }
  template <op Kind>
  static T realised(T x, T) {
    return {x.f, x.f->unary(Kind, x.n)};
  }
};

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
  // The first four choose g or -g and multiply it by no slope: 0 times infinity would be NaN.
  if (x.kind == op::cast) return r.give(a, g);
  if (x.kind == op::neg) return r.give(a, f.neg(g));
  const node_id from = r.value(a, n), zero = f.number(0, f.type(g));
  const node_id is_positive = f.binary(op::greater, from, zero);
  if (x.kind == op::relu) return r.give(a, f.where(is_positive, g, zero));
  if (x.kind == op::abs) {
    const node_id is_negative = f.binary(op::less, from, zero);
    return r.give(a, f.where(is_positive, g, f.where(is_negative, f.neg(g), zero)));
  }
  const written_numbers::T at{&f, from}, y{&f, r.value(n, n)};
  r.give(a, f.mul(g, derivative_of<written_numbers>(x.kind, at, y).n));
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
