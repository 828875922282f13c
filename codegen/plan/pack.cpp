// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/pack.hpp"

#include <set>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {

int panel_of(const program &p, axis_id column) {
  const std::int64_t n = p.axes[column].size;
  for (int panel : {64, 48, 32})
    if (n > 0 && n % panel == 0) return panel;
  if (n > 0 && n <= 16) return 16;
  return n > 0 && n <= 32 ? 32 : 48;
}

std::vector<pack> packs_of(const program &p, const stages &s) {
  std::vector<pack> packs;
  std::set<node_id> seen;
  for (const stage &any : s.list) {
    const auto *c = std::get_if<contraction_stage>(&any);
    if (!c || p[c->right].kind != op::param || p[c->right].type != f32) continue;
    if (!seen.insert(c->right).second) continue;
    pack k;
    k.param = c->right;
    k.panel = panel_of(p, c->column);
    k.rows = p[c->core].over;
    k.columns = {c->column};
    std::vector<axis_id> inner = k.rows;
    inner.insert(inner.end(), k.columns.begin(), k.columns.end());
    k.outer = without(p[c->right].shape, inner);
    packs.push_back(k);
  }
  return packs;
}

}  // namespace qkv::codegen
