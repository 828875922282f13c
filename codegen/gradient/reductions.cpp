// Reductions and prefix sums.
//   sum         g                           max, min   g shared by the elements that are equal to it
//   mean        g / number of elements      logsumexp  g exp(x - lse)
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

}  // namespace

void reduction_rule(reverse &r, node_id n, node_id g) {
  formulas &f = r.f;
  const node &x = r.forward[n];
  const node_id a = x.in[0];
  const axes &shape = r.forward[a].shape;
  if (x.kind == op::sum) return r.give(a, f.expand(g, shape));
  if (x.kind == op::mean) return r.give(a, f.expand(f.div(g, count(r, a, x.over)), shape));
  const node_id from = r.value(a, n), y = r.value(n, n);
  if (x.kind == op::logsumexp) return r.give(a, f.mul(r.forward_values.exp_less(from, y), g));
  const node_id one = f.number(1, f.type(g)), zero = f.number(0, f.type(g));
  const node_id equal = f.where(f.binary(op::equal, from, y), one, zero);
  const node_id sharers = f.binary(op::max, f.reduce(op::sum, equal, x.over), one);
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
