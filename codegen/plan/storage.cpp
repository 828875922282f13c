// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/storage.hpp"

#include <algorithm>
#include <set>

#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

// True if a step is computed from the wanted one, which is stored or an argument, by steps that are
// not stored.
bool reads(const program &p, const stages &s, node_id n, node_id wanted) {
  bool found = false;
  std::set<node_id> seen;
  walk(
      p, n,
      [&](node_id x) {
        found = found || x == wanted;
        return !found && s.stored_by[x] < 0 && is_inlinable(p, x);
      },
      seen);
  return found;
}

// Axes of the stored step that this stage visits innermost, outermost of them first.
std::vector<axis_id> wanted_inner(const program &p, const stages &s, const stage &user, node_id n) {
  if (const auto *c = std::get_if<contraction_stage>(&user))
    return reads(p, s, c->left, n) ? p[c->core].over : std::vector<axis_id>();
  const auto *a = std::get_if<attention_stage>(&user);
  if (!a) return {};
  for (const attention_stage &walk : walks_of(*a))
    for (const weighted_sum &sum : walk.sums)
      if (sum.values != no_step && reads(p, s, sum.values, n)) return {walk.key, sum.column};
  for (node_id d : a->products)
    for (node_id operand : p[d].in)
      if (reads(p, s, operand, n)) {
        std::vector<axis_id> inner = {has(p[n].shape, a->key) ? a->key : a->row};
        inner.insert(inner.end(), p[d].over.begin(), p[d].over.end());
        return inner;
      }
  return {};
}

// The axis that a stage writes in lanes.
axis_id column_of(const stage &s, node_id root) {
  if (const auto *c = std::get_if<contraction_stage>(&s)) return c->column;
  if (const auto *a = std::get_if<attention_stage>(&s))
    for (const weighted_sum &sum : all_sums(*a))
      if (sum.root == root) return sum.column;
  return no_axis;
}

// True for a batch that the operands do not have innermost: its entries, perhaps a single one,
// would fill no lanes.
bool is_outer_batch(const program &p, node_id n, axis_id a) {
  const auto has_innermost = [&](node_id operand) {
    return !p[operand].shape.empty() && p[operand].shape.back() == a;
  };
  return p.axes[a].batch && static_size(p, a) < 0 &&
         std::none_of(p[n].in.begin(), p[n].in.end(), has_innermost);
}

}  // namespace

std::vector<axis_id> storage_order(const program &p, const stages &s, node_id n) {
  if (p[n].kind == op::output) return p[n].shape;
  std::vector<axis_id> inner;
  for (const stage &user : s.list) {
    inner = wanted_inner(p, s, user, n);
    std::erase_if(inner, [&](axis_id a) { return !has(p[n].shape, a); });
    if (!inner.empty()) break;
  }
  std::vector<axis_id> order = without(p[n].shape, inner);
  order.insert(order.end(), inner.begin(), inner.end());
  // lanes of the stage that makes it write along its columns: keep those innermost
  const axis_id column = column_of(s.list[static_cast<std::size_t>(s.stored_by[n])], n);
  if (column != no_axis && has(order, column)) {
    order = without(order, {column});
    order.push_back(column);
  }
  if (column == no_axis && inner.empty() && !order.empty() && is_outer_batch(p, n, order.back()))
    std::rotate(order.begin(), order.end() - 1, order.end());
  return order;
}

}  // namespace qkv::codegen
