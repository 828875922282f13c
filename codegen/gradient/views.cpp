// SPDX-License-Identifier: BSL-1.0
// The adjoint of a view is another view; of repeated elements, a sum.
#include "codegen/gradient/rules.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen::adjoint {

namespace {

// The sum of g over the axes along which a step was repeated. Where g is the same at all positions
// of one, its size is a factor.
node_id over_repetitions(reverse &r, node_id g, const axes &repeated) {
  formulas &f = r.f;
  const node_id varying = f.unexpanded(g);
  const axes shape = f.shape(varying);
  node_id total = r.summed(varying, common(shape, repeated));
  for (axis_id a : without(repeated, shape)) total = f.mul(total, f.cast(f.size(a), f.type(total)));
  return total;
}

}  // namespace

void view_rule(reverse &r, node_id n, node_id g) {
  formulas &f = r.f;
  const node &x = r.forward[n];
  const node_id a = x.in[0];
  const axes &shape = r.forward[a].shape;
  switch (x.kind) {
    case op::rename:
      return r.give(a, f.view(op::rename, g, {x.over[1], x.over[0]}, shape));
    case op::split:
      return r.give(a, f.view(op::merge, g, x.over, shape));
    case op::merge:
      return r.give(a, f.view(op::split, g, x.over, shape));
    default:
      return r.give(a, over_repetitions(r, g, x.over));
  }
}

}  // namespace qkv::codegen::adjoint
