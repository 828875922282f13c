// SPDX-License-Identifier: BSL-1.0
// Before: scan<seq>(S, [](s, x) { .. dot<d>(x, W) .. }, X)
// After:  scan<seq>(S, [](s, y) { .. y .. }, dot<d>(X, W))
// Steps that depend on operands alone, not on the state, are computed for all positions at once.
#include <algorithm>
#include <qkv/core/axes.hpp>

#include "codegen/program/queries.hpp"
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

// The state of the scan out of which a step can be hoisted, or -1. All operands must be elements of
// that scan or outside every scan. Hoisted, the step must not need more memory for all positions
// than an operand does, unless it is a projection.
node_id lifted_from(const program &p, const node &n, const std::vector<bool> &inside) {
  node_id state = -1;
  bool fits = false, projects = false;
  for (node_id operand : n.in) {
    const node &x = p[operand];
    if (x.kind == op::element) {
      state = x.in[1];
      fits = fits || is_view(n.kind) || contains(x.shape, n.shape);
    }
    projects = projects || (n.kind == op::dot && x.kind == op::param);
  }
  if (state < 0 || !(fits || projects)) return -1;
  const axis_id axis = p[state].over[0];
  if (has(n.over, axis)) return -1;
  for (node_id operand : n.in) {
    const node &x = p[operand];
    if (x.kind == op::element ? x.in[1] != state : inside[operand] || has(x.shape, axis)) return -1;
  }
  return state;
}

}  // namespace

program hoist_from_scan(const program &p) {
  rebuild r(p);
  std::vector<bool> inside;  // of the new program
  const auto put = [&](node n) {
    bool in_a_scan = is_of_a_position(n.kind);
    if (n.kind != op::scan && n.kind != op::last)
      for (node_id operand : n.in) in_a_scan = in_a_scan || inside[operand];
    inside.push_back(in_a_scan);
    return r.put(std::move(n));
  };
  return r.run([&](node n) -> node_id {
    const bool pure = is_pointwise(n.kind) || is_reduction(n.kind) || n.kind == op::dot ||
                      (is_view(n.kind) && n.kind != op::element && n.kind != op::broadcast);
    const node_id state =
        pure && n.shape.size() < core::max_axes ? lifted_from(r.to(), n, inside) : -1;
    if (state < 0) return put(std::move(n));
    const axis_id axis = r.to()[state].over[0];
    node element;
    element.kind = op::element;
    element.type = n.type;
    element.shape = n.shape;
    element.over = {axis};
    for (node_id &operand : n.in)
      if (r.to()[operand].kind == op::element) operand = r.to()[operand].in[0];
    n.shape.insert(n.shape.begin(), axis);
    element.in = {put(std::move(n)), state};
    return put(std::move(element));
  });
}

}  // namespace qkv::codegen
