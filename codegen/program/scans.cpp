// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/scans.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "codegen/program/walk.hpp"

namespace qkv::codegen {

std::vector<axis_id> walked_axes(const program &p) {
  std::vector<axis_id> walked;
  for (const node &n : p.nodes) {
    axis_id a = is_of_a_position(n.kind) ? n.over[0] : -1;
    if (n.kind != op::scan && n.kind != op::last)
      for (node_id operand : n.in) a = std::max(a, walked[operand]);
    walked.push_back(a);
  }
  return walked;
}

std::vector<node_id> scan_body(const program &p, node_id carried, node_id next,
                               const std::vector<node_id> &results) {
  const std::vector<axis_id> walked = walked_axes(p);
  std::set<node_id> found;
  const auto enter = [&](node_id n) {
    if (walked[n] < 0 || n == carried) return false;
    found.insert(n);
    return p[n].kind != op::element;
  };
  std::set<node_id> seen;
  walk(p, next, enter, seen);
  for (node_id n : results) walk(p, p[n].in.back(), enter, seen);
  return {found.begin(), found.end()};
}

void check_scans(const program &p) {
  const auto call = [&](node_id n) { return "scan<" + p.axes[p[n].over[0]].name + ">"; };
  std::vector<std::set<node_id>> open;  // per step: the states and elements that it is made of
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n) {
    const node &x = p[n];
    std::set<node_id> made_of;
    for (node_id operand : x.in) made_of.insert(open[operand].begin(), open[operand].end());
    const bool closes = x.kind == op::scan || x.kind == op::last;
    if (closes)
      std::erase_if(made_of, [&](node_id m) {
        return m == x.in[0] || (p[m].kind == op::element && p[m].in[1] == x.in[0]);
      });
    if (closes && !made_of.empty())
      throw std::invalid_argument(p.name + ": " + call(n) + " is inside a step of " +
                                  call(*made_of.begin()));
    if (x.kind == op::output && !made_of.empty())
      throw std::invalid_argument(p.name + ": " + x.name + " is made of what a step of " +
                                  call(*made_of.begin()) + " sees at one position");
    if (is_of_a_position(x.kind)) made_of.insert(n);
    open.push_back(std::move(made_of));
  }
}

}  // namespace qkv::codegen
