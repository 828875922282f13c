#pragma once
// Questions that decide what is stored.
#include <functional>
#include <set>
#include <vector>

#include "codegen/program/queries.hpp"
#include "codegen/stages/stages.hpp"

namespace qkv::codegen {

// A step whose value is a few instructions away from its operands' values.
inline bool is_cheap(const program &p, node_id n) {
  return core::facts_of(p[n].kind).cheap && is_inlinable(p, n);
}

// Depth-first over n and its operands, each once, down to those for which `enter` returns false.
// `seen` collects the visited nodes.
inline void walk(const program &p, node_id n, const std::function<bool(node_id)> &enter,
                 std::set<node_id> &seen) {
  if (!seen.insert(n).second || !enter(n)) return;
  for (node_id operand : p[n].in) walk(p, operand, enter, seen);
}

// The last of these axes that is none of those.
inline axis_id last_of(const std::vector<axis_id> &axes, const std::vector<axis_id> &but) {
  const auto rest = without(axes, but);
  return rest.empty() ? no_axis : rest.back();
}

}  // namespace qkv::codegen
