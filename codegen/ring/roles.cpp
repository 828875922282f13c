// SPDX-License-Identifier: BSL-1.0
#include "codegen/ring/roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "codegen/program/queries.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen {
namespace {

bool is_argument(op o) { return o == op::input || o == op::param; }

// Steps whose elements depend on one position along each axis of `over`, and on nothing beside it.
bool keeps_positions(op o) {
  return is_source(o) || o == op::uniform || o == op::broadcast || o == op::output;
}

bool may_sum(const node &x) {
  switch (x.kind) {
    case op::dot:
    case op::sum:
      return is_floating(x.type) || x.type == i32;
    case op::logsumexp:
      return true;
    case op::max_over:
    case op::min_over:
      return is_floating(x.type);
    default:
      return false;
  }
}

class judge {
 public:
  judge(const program &p, roles &r) : p_(p), r_(r) {}

  void look_at(node_id n) {
    const node &x = p_[n];
    const bool own_as_keys = x.kind == op::rename && is_pair(x.over);
    for (axis_id a : x.over) {
      if (a != r_.query && a != r_.key) {
        continue;
      }
      if (own_as_keys || keeps_positions(x.kind)) continue;
      if (a == r_.query || !(may_sum(x) || x.kind == op::softmax))
        throw error(n, fmt::format("it needs {} of other machines", name(a)));
    }
    if (x.kind == op::put)
      for (node_id operand : x.in)
        if (varies_along(p_[operand], {r_.query, r_.key}))
          throw error(n, "it sums over tokens of other machines");
    const bool walks = x.kind == op::carried || x.kind == op::scan || x.kind == op::last;
    if (walks && varies_along(x, {r_.query, r_.key}))
      throw error(n, "a scan beside positions that machines share");
  }

  std::runtime_error error(node_id n, const std::string &why) const {
    return std::runtime_error(fmt::format("{} over {} and {}: {}: {}", p_.name, name(r_.query),
                                          name(r_.key), label_of(p_, n), why));
  }

 private:
  const std::string &name(axis_id a) const { return p_.axes[a].name; }
  bool is_pair(const std::vector<axis_id> &over) const {
    return same_set(over, {r_.query, r_.key});
  }
  const program &p_;
  roles &r_;
};

}  // namespace

roles::roles(const program &p, axis_id q, axis_id k) : query(q), key(k) {
  judge j(p, *this);
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n) {
    const node &x = p[n];
    j.look_at(n);
    const bool argument = is_argument(x.kind), of_key = has(x.shape, k), of_query = has(x.shape, q);
    const bool over_keys = has(x.over, k) && !keeps_positions(x.kind) && x.kind != op::rename;
    int before = 0;
    bool is_simple = is_source(x.kind) || (is_cheap(p, n) && x.kind != op::rename);
    for (node_id operand : x.in) {
      before = std::max(before, level[operand]);
      is_simple = is_simple && simple[operand];
    }
    sums.push_back(over_keys && may_sum(x));
    of_pairs.push_back(!argument && ((of_key && of_query) || (x.kind == op::softmax && over_keys)));
    if (over_keys && !(sums.back() ? of_query : of_query && of_key))
      throw j.error(
          n, fmt::format("its sum over {} is one for all {}", p.axes[k].name, p.axes[q].name));
    round.push_back(sums.back() || of_pairs.back() ? before : -1);
    level.push_back(before + sums.back());
    simple.push_back(is_simple && !sums.back() && !of_pairs.back());
    rounds = std::max(rounds, level.back());
  }
  if (rounds == 0)
    throw std::runtime_error(fmt::format("{} over {} and {}: it has no sum over {}", p.name,
                                         p.axes[q].name, p.axes[k].name, p.axes[k].name));
}

}  // namespace qkv::codegen
