#pragma once
// Which steps stand inside a scan: what they compute belongs to one position of it.
#include <algorithm>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Per step: the axis that the scan around it walks, -1 outside of scans.
inline std::vector<axis_id> walked_axes(const program &p) {
  std::vector<axis_id> walked;
  for (const node &n : p.nodes) {
    axis_id a = is_of_a_position(n.kind) ? n.over[0] : -1;
    if (n.kind != op::scan && n.kind != op::last)
      for (node_id operand : n.in) a = std::max(a, walked[operand]);
    walked.push_back(a);
  }
  return walked;
}

}  // namespace qkv::codegen
