// The adjoint of a view is another view; of repeated elements, a sum.
#include "codegen/gradient/rules.hpp"

namespace qkv::codegen::adjoint {

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
      return r.give(a, r.summed(f.unexpanded(g), common(f.shape(f.unexpanded(g)), x.over)));
  }
}

}  // namespace qkv::codegen::adjoint
