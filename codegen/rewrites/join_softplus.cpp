// SPDX-License-Identifier: BSL-1.0
// Before: log(1 + exp(x)), log(sigmoid(x))     After: softplus(x), -softplus(-x)
// In f32, exp(x) is infinite above 88, and 1 + exp(x) is 1 below -17; sigmoid(x) is 0 below -104.
// The results are finite and exact all the same, and so are their gradients.
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

// x of 1 + exp(x); -1: another step.
node_id exponent_beside_one(const program &p, const node &sum) {
  if (sum.kind != op::add) return -1;
  for (const std::size_t k : {0, 1}) {
    const node &one = p[sum.in[k]], &power = p[sum.in[1 - k]];
    if (one.kind == op::number && one.value == 1 && power.kind == op::exp &&
        power.shape == sum.shape)
      return power.in[0];
  }
  return -1;
}

}  // namespace

program join_softplus(const program &p) {
  rebuild r(p);
  return r.run([&](node n) -> node_id {
    if (n.kind != op::log) return r.put(std::move(n));
    const node of = r.to()[n.in[0]];
    if (const node_id x = exponent_beside_one(r.to(), of); x >= 0) {
      n.kind = op::softplus, n.in = {x};
    } else if (of.kind == op::sigmoid) {
      node step = n;
      step.name.clear();
      step.kind = op::neg, step.in = {of.in[0]};
      step.in = {r.put(step)};
      step.kind = op::softplus;
      n.kind = op::neg, n.in = {r.put(std::move(step))};
    }
    return r.put(std::move(n));
  });
}

}  // namespace qkv::codegen
