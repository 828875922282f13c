// SPDX-License-Identifier: BSL-1.0
#include "codegen/ring/independent.hpp"

#include <algorithm>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

class finding {
 public:
  finding(const program &p, const token_places &r) : p_(p), r_(r) {
    for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n)
      if (is_of_pairs(r.at[n]) || r.simple[n]) steps_.push_back(n);
  }

  std::vector<axis_id> run() const {
    std::vector<axis_id> all;
    for (axis_id a = 0; a < static_cast<axis_id>(p_.axes.size()); ++a) {
      if (!p_.axes[a].batch || !has_no_alias(a) || !every_sum_has(a)) continue;
      const std::vector<axis_id> wholes = divided_into(a);
      std::vector<axis_id> family = {a};
      family.insert(family.end(), wholes.begin(), wholes.end());
      if (std::all_of(wholes.begin(), wholes.end(), [&](axis_id w) { return has_no_alias(w); }) &&
          std::all_of(steps_.begin(), steps_.end(),
                      [&](node_id n) { return keeps_apart(n, a, family); }))
        all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }

 private:
  bool has_no_alias(axis_id a) const {
    const auto shares = [&](const axis &x) { return x.root == p_.axes[a].root; };
    return a != r_.query && a != r_.key &&
           std::count_if(p_.axes.begin(), p_.axes.end(), shares) == 1;
  }

  bool every_sum_has(axis_id a) const {
    return std::all_of(steps_.begin(), steps_.end(), [&](node_id n) {
      const node &x = p_[n];
      const bool is_result = is_sum(r_.at[n]) || x.kind == op::softmax ||
                             (x.kind == op::output && r_.at[n] == place::pairs);
      return !is_result || has(x.shape, a);
    });
  }

  std::vector<axis_id> divided_into(axis_id a) const {
    std::vector<axis_id> wholes;
    for (node_id n : steps_)
      if (const node &x = p_[n]; x.kind == op::split && x.over[1] == a)
        wholes = with(wholes, {x.over[0]});
    return wholes;
  }

  bool keeps_apart(node_id n, axis_id a, const std::vector<axis_id> &family) const {
    const node &x = p_[n];
    const std::vector<axis_id> over = with(x.over, summed_axes(p_, n));
    if (std::none_of(over.begin(), over.end(), [&](axis_id b) { return has(family, b); }))
      return true;
    switch (x.kind) {
      case op::index:
      case op::size:
      case op::broadcast:
      case op::uniform:
      case op::output:
        return true;
      case op::split:
        return x.over[1] == a && !has(family, x.over[2]);
      default:
        return false;
    }
  }

  const program &p_;
  const token_places &r_;
  std::vector<node_id> steps_;  // of hops
};

}  // namespace

std::vector<axis_id> independent_axes(const program &p, const token_places &r) {
  return finding(p, r).run();
}

}  // namespace qkv::codegen
