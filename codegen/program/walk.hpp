#pragma once
// A walk over a step and everything that it is computed from.
#include <functional>
#include <set>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Depth-first over n and its operands, each once, down to those for which `enter` returns false.
// `seen` collects the visited nodes.
inline void walk(const program &p, node_id n, const std::function<bool(node_id)> &enter,
                 std::set<node_id> &seen) {
  if (!seen.insert(n).second || !enter(n)) return;
  for (node_id operand : p[n].in) walk(p, operand, enter, seen);
}

}  // namespace qkv::codegen
