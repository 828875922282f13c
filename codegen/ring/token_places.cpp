// SPDX-License-Identifier: BSL-1.0
#include "codegen/ring/token_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "codegen/program/queries.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen {
namespace {

// Steps whose elements depend on one position along each axis of `over`, and on nothing beside it.
bool keeps_positions(op o) {
  return is_source(o) || o == op::uniform || o == op::broadcast || o == op::output;
}

bool may_sum(const node &x) {
  switch (x.kind) {
    case op::dot:
    case op::sum:
    case op::put:
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
  judge(const program &p, const token_places &r) : p_(p), r_(r) {}

  place of(node_id n) const {
    const node &x = p_[n];
    const bool walks = x.kind == op::carried || x.kind == op::scan || x.kind == op::last;
    if (walks && varies_along(x, {r_.query, r_.key}))
      throw error(n, "a scan beside positions that machines share");
    if (!may_sum(x)) return of_one(n);
    if (x.kind == op::put && (has(x.over, r_.query) || has(x.over, r_.key)))
      throw error(n, "it puts values at tokens of other machines");
    const std::vector<axis_id> over = summed_axes(p_, n);
    const bool over_queries = has(over, r_.query), over_keys = has(over, r_.key);
    if (!over_queries && !over_keys) return of_one(n);
    const bool of_pairs = is_along(n, r_.query) && is_along(n, r_.key);
    if (!of_pairs) return place::own_total;
    if (over_queries && over_keys) return place::pair_total;
    return over_keys ? place::query_sum : place::key_sum;
  }

 private:
  // No sum over tokens.
  place of_one(node_id n) const {
    const node &x = p_[n];
    const bool own_as_keys = x.kind == op::rename && same_set(x.over, {r_.query, r_.key});
    const bool is_of_pairs = has(x.shape, r_.query) && has(x.shape, r_.key);
    for (axis_id a : {r_.query, r_.key}) {
      if (!has(x.over, a) || own_as_keys || keeps_positions(x.kind) || may_sum(x)) continue;
      if (x.kind == op::merge && has(r_.key_blocks, x.over[1])) continue;
      if (x.kind == op::softmax && a == r_.key && is_of_pairs) continue;
      throw error(n, fmt::format("it needs {} of other machines", name(a)));
    }
    const bool is_argument = x.kind == op::input || x.kind == op::param;
    return is_of_pairs && !is_argument ? place::pairs : place::own;
  }

  // True if the step or an operand varies along an axis.
  bool is_along(node_id n, axis_id a) const {
    const node &x = p_[n];
    return has(x.shape, a) || std::any_of(x.in.begin(), x.in.end(), [&](node_id operand) {
             return has(p_[operand].shape, a);
           });
  }

  std::runtime_error error(node_id n, const std::string &why) const {
    return std::runtime_error(fmt::format("{} over {} and {}: {}: {}", p_.name, name(r_.query),
                                          name(r_.key), label_of(p_, n), why));
  }
  const std::string &name(axis_id a) const { return p_.axes[a].name; }

  const program &p_;
  const token_places &r_;
};

// Axes that merge<> makes the keys of, the outer ones, where that is all that happens along them.
std::vector<axis_id> blocks_of_keys(const program &p, axis_id key) {
  std::vector<axis_id> all;
  for (const node &x : p.nodes)
    if (x.kind == op::merge && x.over[0] == key) all = with(all, {x.over[1]});
  std::erase_if(all, [&](axis_id a) {
    const auto shares = [&](const axis &x) { return x.root == p.axes[a].root; };
    const auto is_another_use = [&](const node &x) {
      return has(x.over, a) && x.kind != op::broadcast &&
             !(x.kind == op::merge && x.over[0] == key && x.over[1] == a);
    };
    return p.axes[a].size >= 0 || std::count_if(p.axes.begin(), p.axes.end(), shares) > 1 ||
           std::any_of(p.nodes.begin(), p.nodes.end(), is_another_use);
  });
  return all;
}

}  // namespace

std::vector<axis_id> summed_axes(const program &p, node_id n) {
  const node &x = p[n];
  if (x.kind != op::put) return may_sum(x) ? x.over : std::vector<axis_id>{};
  return without(with(p[x.in[0]].shape, p[x.in[1]].shape), x.shape);
}

token_places::token_places(const program &p, axis_id q, axis_id k)
    : query(q), key(k), key_blocks(blocks_of_keys(p, k)) {
  const judge j(p, *this);
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n) {
    const node &x = p[n];
    at.push_back(j.of(n));
    int before = 0;
    // Blocks of keys are read where they are used: they stay where they are.
    const bool is_in_blocks =
        is_inlinable(p, n) &&
        (varies_along(x, key_blocks) || (x.kind == op::merge && has(key_blocks, x.over[1])));
    bool is_simple = is_source(x.kind) || (is_cheap(p, n) && x.kind != op::rename) || is_in_blocks;
    for (node_id operand : x.in) {
      before = std::max(before, level[operand]);
      is_simple = is_simple && simple[operand];
    }
    round.push_back(before);
    level.push_back(before + is_sum(at.back()));
    simple.push_back(is_simple && at.back() == place::own);
    const bool is_last_of_pairs = x.kind == op::output && at.back() == place::pairs;
    rounds = std::max(rounds, level.back() + is_last_of_pairs);
  }
  if (rounds == 0)
    throw std::runtime_error(fmt::format("{} over {} and {}: no sum over one of them", p.name,
                                         p.axes[q].name, p.axes[k].name));
}

}  // namespace qkv::codegen
