// SPDX-License-Identifier: BSL-1.0
// Reductions and prefix sums.
//   sum         g
//   mean        g / number of elements
//   max, min    g shared by the elements that are equal to it
//   logsumexp   g exp(x - lse)
//   cumsum      sums of g from the end
#include "codegen/gradient/rules.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen::adjoint {
namespace {

// The number of present elements along some axes of a step, at least 1.
node_id count(reverse &r, node_id n, const axes &over) {
  formulas &f = r.f;
  const dtype t = r.type_of(n);
  const node_id one = f.number(1, t), present = r.here.of(n);
  node_id number = one;
  axes alike = over;
  if (present != everywhere) {
    alike = without(over, f.shape(present));
    const node_id ones = f.where(present, one, f.number(0, t));
    number = f.reduce(op::sum, ones, common(f.shape(present), over));
  }
  for (axis_id a : alike) number = f.mul(number, f.cast(f.size(a), t));
  return present == everywhere ? number : f.binary(op::max, number, one);
}

// 1 where an operand of a maximum or minimum is equal to it, else 0. Operands that are computed
// again may round otherwise than those of the forward, and from one pass to the next: then the
// maximum is theirs, and what differs from it by a few units in the last place is equal to it.
node_id is_most(reverse &r, node_id n, node_id from, dtype t) {
  formulas &f = r.f;
  const node &x = r.forward[n];
  const node_id one = f.number(1, t), zero = f.number(0, t);
  if (r.value_of(x.in[0]) == x.in[0])
    return f.where(f.binary(op::equal, from, r.value(n, n)), one, zero);
  const node_id y = f.reduce(x.kind, from, x.over);
  const dtype own = f.type(y);
  const node_id few = f.number(own == f64 ? 0x1p-48 : 0x1p-20, own);
  const node_id off = f.unary(op::abs, f.sub(from, y));
  const node_id near = f.binary(op::less_equal, off, f.mul(f.unary(op::abs, y), few));
  return f.where(f.binary(op::equal, from, y), one, f.where(near, one, zero));
}

}  // namespace

void reduction_rule(reverse &r, node_id n, node_id g) {
  formulas &f = r.f;
  const node &x = r.forward[n];
  const node_id a = x.in[0];
  const axes &shape = r.forward[a].shape;
  if (x.kind == op::sum) return r.give(a, f.expand(g, shape));
  if (x.kind == op::mean) return r.give(a, f.expand(f.div(g, count(r, a, x.over)), shape));
  const node_id from = r.value(a, n);
  if (x.kind == op::logsumexp)
    return r.give(a, f.mul(r.forward_values.exp_less(from, r.value(n, n)), g));
  const node_id equal = is_most(r, n, from, f.type(g));
  const node_id sharers =
      f.binary(op::max, f.reduce(op::sum, equal, x.over), f.number(1, f.type(g)));
  r.give(a, f.mul(equal, f.div(g, sharers)));
}

// Reversed, summed from the start, reversed.
void prefix_rule(reverse &r, node_id n, node_id g) {
  formulas &f = r.f;
  const node &x = r.forward[n];
  const axis_id along = x.over[0];
  const node_id last = f.binary(op::sub, f.size(along), f.number(1, i32));
  const node_id backwards = f.binary(op::sub, last, f.index(along));
  const auto reversed = [&](node_id y) { return f.gather(y, backwards, along, x.shape); };
  const node_id sums = f.view(op::cumsum, reversed(r.here.filled(g)), {along}, x.shape);
  r.give(x.in[0], reversed(sums));
}

}  // namespace qkv::codegen::adjoint
