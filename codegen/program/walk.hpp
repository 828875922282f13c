// SPDX-License-Identifier: BSL-1.0
#pragma once
// Walks over a step and everything that it is computed from, or that is computed from it.
#include <functional>
#include <set>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Depth-first over n and its operands, each once, down to those for which `enter` returns false.
// `seen` collects the visited nodes.
inline void walk(const program &p, node_id n, const std::function<bool(node_id)> &enter,
                 std::set<node_id> &seen) {
  if (!seen.insert(n).second || !enter(n)) return;
  for (node_id operand : p[n].in) walk(p, operand, enter, seen);
}

// True if `is_it` holds for n or for a step that it depends on; the search goes through those for
// which `enter` is true.
template <class F, class Enter>
bool depends_on(const program &p, node_id n, F is_it, Enter enter) {
  bool found = false;
  std::set<node_id> seen;
  walk(
      p, n,
      [&](node_id m) {
        found = found || is_it(m);
        return !found && enter(m);
      },
      seen);
  return found;
}
template <class F>
bool depends_on(const program &p, node_id n, F is_it) {
  return depends_on(p, n, is_it, [](node_id) { return true; });
}

// Visits the users of n, once for each step that they read, and the users of those for which
// `enter(user, step)` returns true. `users` is the result of users_of().
inline void walk_users(const std::vector<std::vector<node_id>> &users, node_id n,
                       const std::function<bool(node_id user, node_id step)> &enter) {
  std::set<node_id> seen;
  std::vector<node_id> next = {n};
  while (!next.empty()) {
    const node_id step = next.back();
    next.pop_back();
    if (!seen.insert(step).second) continue;
    for (const node_id user : users[step])
      if (enter(user, step)) next.push_back(user);
  }
}

}  // namespace qkv::codegen
