// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/tensor_operand.hpp"

#include <algorithm>

namespace qkv::codegen {
namespace {

// The axes of a tensor in memory, as the views show them.
std::vector<axis_id> axes_of(const plan &made, const tensor_operand &x) {
  const program &p = made.p;
  std::vector<axis_id> axes =
      made.cut.stored_by[x.memory] >= 0 ? made.order[x.memory] : p[x.memory].shape;
  for (std::size_t v = x.views.size(); v-- > 0;) {
    const std::vector<axis_id> &over = p[x.views[v]].over;  // one axis, then those in its place
    const auto at = axes.erase(std::find(axes.begin(), axes.end(), over[0]));
    axes.insert(at, over.begin() + 1, over.end());
  }
  return axes;
}

}  // namespace

std::optional<tensor_operand> operand_of(const plan &made, node_id n,
                                         const std::vector<bool> &gaps) {
  const program &p = made.p;
  if (gaps[n] || p[n].type != f32) return std::nullopt;
  tensor_operand found;
  found.step = n;
  while (true) {
    const node &x = p[n];
    found.memory = n;
    if (x.kind == op::input || x.kind == op::param || made.cut.stored_by[n] >= 0) break;
    const bool widens = x.kind == op::cast && (p[x.in[0]].type == bf16 || p[x.in[0]].type == f16);
    if (x.kind == op::rename || x.kind == op::split)
      found.views.push_back(n);
    else if (!widens)
      return std::nullopt;
    n = x.in[0];
  }
  found.axes = axes_of(made, found);
  return found;
}

}  // namespace qkv::codegen
