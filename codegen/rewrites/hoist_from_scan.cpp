// Before: scan<seq>(S, [](s, x) { .. dot<d>(x, W) .. }, X)     After: scan<seq>(S, [](s, y) { .. y .. }, dot<d>(X, W))
// What a step computes of its operands alone, without the state, is done for all positions at once.
#include <algorithm>
#include <qkv/core/axes.hpp>

#include "codegen/program/queries.hpp"
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

// The axis that the scan walks, if the operands are elements along it, or do not vary along it at all; else -1.
axis_id lifted_along(const program &p, const node &n, const std::vector<bool> &inside) {
  axis_id axis = -1;
  for (node_id operand : n.in)
    if (p[operand].kind == op::element) axis = p[operand].over[0];
  if (axis < 0 || has(n.over, axis)) return -1;
  for (node_id operand : n.in) {
    const bool element = p[operand].kind == op::element && p[operand].over[0] == axis;
    if (!element && (inside[operand] || has(p[operand].shape, axis))) return -1;
  }
  return axis;
}

// Lifted, a step takes the memory of all positions: no more than an operand of it does, or a projection by a param.
bool grows(const program &p, const node &n) {
  if (n.kind == op::broadcast) return true;
  if (n.kind != op::dot) return false;
  return std::all_of(n.in.begin(), n.in.end(), [&](node_id operand) {
    return p[operand].kind == op::element && !contains(p[operand].shape, n.shape);
  });
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
    const axis_id axis = is_pointwise(n.kind) || is_reduction(n.kind) || n.kind == op::dot ||
                                 (is_view(n.kind) && n.kind != op::element)
                             ? lifted_along(r.to(), n, inside)
                             : -1;
    if (axis < 0 || n.shape.size() >= max_axes || grows(r.to(), n)) return put(std::move(n));
    node element;
    element.kind = op::element;
    element.type = n.type;
    element.shape = n.shape;
    element.over = {axis};
    for (node_id &operand : n.in)
      if (r.to()[operand].kind == op::element) operand = r.to()[operand].in[0];
    n.shape.insert(n.shape.begin(), axis);
    element.in = {put(std::move(n))};
    return put(std::move(element));
  });
}

}  // namespace qkv::codegen
