// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/pack.hpp"

#include <set>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {

std::vector<pack> packs_of(const program &p, const stages &s) {
  std::vector<pack> packs;
  std::set<node_id> seen;
  for (const stage &any : s.list) {
    const auto *c = std::get_if<contraction_stage>(&any);
    if (!c || p[c->right].kind != op::param || p[c->right].type != f32) continue;
    if (!seen.insert(c->right).second) continue;
    pack k;
    k.param = c->right;
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
