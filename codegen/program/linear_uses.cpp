// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/linear_uses.hpp"

#include <algorithm>

#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class linear_uses {
 public:
  linear_uses(const program &p, const std::vector<std::vector<node_id>> &users,
              const std::vector<axis_id> &over)
      : p_(p), users_(users), over_(over) {}

  bool collect(node_id n) {
    return !users_[n].empty() && std::all_of(users_[n].begin(), users_[n].end(), [&](node_id user) {
      const node &x = p_[user];
      const bool once = x.in[0] == n && (x.in.size() < 2 || !depends(x.in[1], n));
      const bool second = x.in.size() == 2 && x.in[1] == n && !depends(x.in[0], n);
      if (x.kind == op::dot && x.over == over_ && (once || second)) {
        products.insert(user);
        return true;
      }
      return ((once && scales(x.kind, 0)) || (second && scales(x.kind, 1))) && collect(user);
    });
  }

  std::set<node_id> products;

 private:
  bool depends(node_id n, node_id on) const {
    std::set<node_id> below;
    walk(p_, n, [](node_id) { return true; }, below);
    return below.count(on) > 0;
  }

  const program &p_;
  const std::vector<std::vector<node_id>> &users_;
  const std::vector<axis_id> &over_;
};

}  // namespace

std::optional<std::set<node_id>> products_linear_in(const program &p,
                                                    const std::vector<std::vector<node_id>> &users,
                                                    node_id n, const std::vector<axis_id> &over) {
  linear_uses uses(p, users, over);
  if (!uses.collect(n)) return std::nullopt;
  return uses.products;
}

}  // namespace qkv::codegen
