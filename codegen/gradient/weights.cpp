// SPDX-License-Identifier: BSL-1.0
// Weights over k, from scores s:
//   softmax    w (g - D)                  D = sum<k>(w g)
//   normalize  (g - D) / sum<k>(s)
// Where w is only multiplied with values, w g summed over keys is the result times its adjoint
// summed over the width of the values: D needs no pass over the keys.
#include "codegen/gradient/rules.hpp"
#include "codegen/program/linear_uses.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen::adjoint {
namespace {

node_id sum_over_keys(reverse &r, node_id n, node_id weights, node_id g) {
  formulas &f = r.f;
  const node &x = r.forward[n];
  const auto products = products_linear_in(r.forward, r.users, n, x.over);
  if (!products) return f.dot(weights, g, x.over);
  const axes rows = without(x.shape, x.over);
  node_id sum = no_node;
  for (node_id product : *products) {
    const node_id adjoint = r.adjoint(product);
    if (adjoint == no_node) continue;
    // A sum of products, not a contraction: that could be taken before the product with values. An
    // absent adjoint counts as 0 beside those of other products.
    const node_id part = r.here.filled(f.reduce(op::sum, f.mul(adjoint, r.value(product, n)),
                                                without(r.forward[product].shape, rows)));
    sum = sum == no_node ? part : f.add(sum, part);
  }
  return sum == no_node ? f.number(0, f.type(g)) : sum;
}

}  // namespace

void weights_rule(reverse &r, node_id n, node_id g) {
  formulas &f = r.f;
  const node &x = r.forward[n];
  const node_id weights = r.forward_values.weights(n);
  // An absent g is 0, g - D is not.
  if (r.here.of(g) != r.here.of(weights)) g = r.here.filled(g);
  const node_id change = f.sub(g, sum_over_keys(r, n, weights, g));
  if (x.kind == op::softmax) return r.give(x.in[0], f.mul(weights, change));
  const node_id total = r.forward_values.total(n), zero = f.number(0, f.type(g));
  r.give(x.in[0], f.where(f.binary(op::equal, total, zero), zero, f.div(change, total)));
}

}  // namespace qkv::codegen::adjoint
