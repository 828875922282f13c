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

// Over the users of n, each once for every step that it reads, and on over the users of those for
// which `enter(user, step)` returns true. `users`: of each step, as users_of() gives them.
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
