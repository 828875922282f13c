// SPDX-License-Identifier: BSL-1.0
// dot<k>(a, b): the adjoint of a is the product of g and b, contracted over the axes that a lacks.
#include "codegen/gradient/rules.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen::adjoint {

void contraction_rule(reverse &r, node_id n, node_id g) {
  const node &x = r.forward[n];
  g = r.f.unexpanded(g);
  for (const std::size_t k : {0, 1})
    if (r.wants(x.in[k])) r.give_product(x.in[k], g, r.factor(x.in[1 - k], n));
}

}  // namespace qkv::codegen::adjoint
