// SPDX-License-Identifier: BSL-1.0
#include "codegen/ring/part.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "codegen/program/assemble.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

program begun(const program &whole, std::string name) {
  program p = without_steps(whole);
  p.name = std::move(name);
  p.conditions.clear();
  return p;
}

// Only the axes that steps have.
program with_own_axes(program p) {
  std::set<axis_id> used;
  for (const node &n : p.nodes) {
    used.insert(n.shape.begin(), n.shape.end());
    used.insert(n.over.begin(), n.over.end());
  }
  for (axis_id a : std::set<axis_id>(used))
    if (p.axes[a].root >= 0) used.insert(p.axes[a].root);
  std::vector<axis_id> now(p.axes.size(), -1);
  std::vector<axis> kept;
  for (axis_id a : used) {
    now[a] = static_cast<axis_id>(kept.size());
    kept.push_back(p.axes[a]);
  }
  for (axis &a : kept) a.root = now[a.root];
  for (node &n : p.nodes) {
    for (axis_id &a : n.shape) a = now[a];
    for (axis_id &a : n.over) a = now[a];
  }
  p.axes = std::move(kept);
  return p;
}

}  // namespace

part::part(const program &whole, const token_places &r, std::string name, bool of_pairs)
    : f(begun(whole, std::move(name))), whole_(whole), r_(r), of_pairs_(of_pairs) {}

node_id part::argument(node_id like, const std::string &name) {
  return argument(whole_[like], name);
}

node_id part::argument(const node &like, const std::string &name) {
  const auto [at, is_new] = arguments_.try_emplace(name, no_node);
  if (is_new) at->second = f.argument(like, name);
  return at->second;
}

node_id part::position(const char *what, axis_id a) {
  node one;
  one.type = i32;
  one.is_position = true;
  return argument(one, what + ("_" + whole_.axes[a].name));
}

bool part::is_divided(axis_id a) const {
  return a == r_.query || a == r_.key || (of_pairs_ && has(r_.independent, a));
}

node_id part::first(axis_id a) { return is_divided(a) ? position("first", a) : f.number(0, i32); }

void part::add_positions() {
  for (axis_id a : with({r_.query, r_.key}, r_.independent)) (void)first(a);
}

node_id part::copy(node x, const std::vector<node_id> &operands) {
  x.in = operands;
  if (x.kind == op::index && is_divided(x.over[0]))
    return f.binary(op::add, f.index(x.over[0]), first(x.over[0]));
  if (x.kind == op::size) {
    for (axis_id a : {r_.query, r_.key})
      if (whole_.axes[x.over[0]].root == whole_.axes[a].root) return position("whole", a);
    if (is_divided(x.over[0])) return position("whole", x.over[0]);
  }
  const bool is_of_some =
      std::any_of(x.shape.begin(), x.shape.end(), [&](axis_id a) { return is_divided(a); });
  if (x.kind == op::uniform && is_of_some && x.in.size() == 1)
    for (axis_id a : x.over) x.in.push_back(first(a));
  return f.put(std::move(x));
}

// A part of the queries, of the keys or of an independent axis has a size of its own.
void part::cut_off(std::vector<axis> &axes) const {
  const axis_id of_query = axes[r_.query].root, of_key = axes[r_.key].root;
  std::map<axis_id, axis_id> rest;  // what other aliases have in place of a root that is cut
  for (axis_id a = 0; a < static_cast<axis_id>(axes.size()); ++a) {
    if (a == r_.query || a == r_.key) continue;
    const axis_id root = axes[a].root;
    if (root != r_.query && root != r_.key) continue;
    axes[a].size = axes[root].size;
    axes[a].root = rest.try_emplace(root, a).first->second;
  }
  axes[r_.query].size = axes[of_query].size;
  axes[r_.key].size = axes[of_key].size;
  axes[r_.query].root = r_.query;
  axes[r_.key].root = of_query == of_key && !of_pairs_ ? r_.query : r_.key;
  if (of_pairs_)
    for (axis_id a : r_.independent) axes[a].size = -1;
}

program part::take() {
  program p = f.take();
  std::set<std::string> names;
  for (const std::vector<node_id> *list : {&p.arguments, &p.outputs})
    for (node_id n : *list)
      if (!names.insert(p[n].name).second)
        throw std::runtime_error(p.name + ": two arguments are named " + p[n].name);
  cut_off(p.axes);
  return assembled(with_own_axes(without_dead_steps(std::move(p))));
}

}  // namespace qkv::codegen
