// SPDX-License-Identifier: BSL-1.0
#include <functional>
#include <map>

#include "codegen/gradient/rules.hpp"
#include "codegen/program/scans.hpp"

namespace qkv::codegen::adjoint {
namespace {

class sorting {
 public:
  explicit sorting(const program &p)
      : p_(p), inside_(walked_axes(p)), at_(p.nodes.size(), no_node) {
    sorted_ = p;
    sorted_.nodes.clear();
    for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n)
      if (is_result(n)) results_[p[n].in[0]].push_back(n);
  }

  program run() {
    for (node_id n : p_.arguments) visit(n);
    for (node_id n : p_.outputs) visit(n);
    for (node_id &n : sorted_.arguments) n = at_[n];
    for (node_id &n : sorted_.outputs) n = at_[n];
    return std::move(sorted_);
  }

 private:
  bool is_result(node_id n) const { return p_[n].kind == op::scan || p_[n].kind == op::last; }

  void visit(node_id n) {
    if (at_[n] != no_node) return;
    if (is_result(n)) {
      const std::vector<node_id> &group = results_.at(p_[n].in[0]);
      for (node_id result : group) visit_outside(result);
      for (node_id result : group) visit_operands(result);
      for (node_id result : group) put(result);
    } else {
      visit_operands(n);
      put(n);
    }
  }
  void visit_operands(node_id n) {
    for (node_id operand : p_[n].in) visit(operand);
  }
  // All that the steps of a scan read from outside.
  void visit_outside(node_id n) {
    for (node_id operand : p_[n].in) {
      if (inside_[operand] < 0)
        visit(operand);
      else if (seen_.emplace(operand, true).second)
        visit_outside(operand);
    }
  }
  void put(node_id n) {
    if (at_[n] != no_node) return;
    node x = p_[n];
    for (node_id &operand : x.in) operand = at_[operand];
    at_[n] = static_cast<node_id>(sorted_.nodes.size());
    sorted_.nodes.push_back(std::move(x));
  }

  const program &p_;
  const std::vector<axis_id> inside_;
  std::vector<node_id> at_;
  std::map<node_id, std::vector<node_id>> results_;  // by the state
  std::map<node_id, bool> seen_;
  program sorted_;
};

}  // namespace

program with_scans_together(const program &p) { return sorting(p).run(); }

}  // namespace qkv::codegen::adjoint
