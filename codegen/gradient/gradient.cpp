// SPDX-License-Identifier: BSL-1.0
#include "codegen/gradient/gradient.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "codegen/gradient/rules.hpp"
#include "codegen/program/assemble.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace adjoint {

rule rule_of(const reverse &r, node_id n) {
  using enum core::op_group;
  switch (core::group_of(r.forward[n].kind)) {
    case source:
    case random:
    case comparison:
    case logic:
      return nullptr;
    case unary:
      return unary_rule;
    case arithmetic:
      return arithmetic_rule;
    case choice:
      return choice_rule;
    case contraction:
      return contraction_rule;
    case reduction:
      return reduction_rule;
    case weights:
      return weights_rule;
    case prefix:
      return prefix_rule;
    case mask:
      return mask_rule;
    case gather:
      return gather_rule;
    case scatter:
      throw r.refusal(n, "put has no gradient");
    case view:
      return view_rule;
    case state:
    case scan:  // see scan_rule
    case output:
      return nullptr;
  }
  return nullptr;
}

}  // namespace adjoint

namespace {

using adjoint::is_differentiable;

std::vector<node_id> named(const program &p, const std::vector<std::string> &names) {
  std::vector<node_id> found;
  for (const std::string &name : names) {
    const auto at = std::find_if(p.arguments.begin(), p.arguments.end(),
                                 [&](node_id n) { return p[n].name == name; });
    if (at == p.arguments.end())
      throw std::runtime_error(p.name + "_gradient: " + p.name + " has no argument " + name);
    if (!is_differentiable(p[*at].type))
      throw std::runtime_error(p.name + "_gradient: " + name + " is " +
                               std::string(name_of(p[*at].type)) + ", which has no gradient");
    found.push_back(*at);
  }
  if (!names.empty()) return found;
  for (node_id n : p.arguments)
    if (is_differentiable(p[n].type)) found.push_back(n);
  if (found.empty())
    throw std::runtime_error(p.name + "_gradient: no argument of " + p.name +
                             " has a floating type");
  return found;
}

// True for the first result of a scan, which its step comes right before.
bool is_first_result(const program &p, node_id n) {
  const auto is_result = [&](node_id m) { return p[m].kind == op::scan || p[m].kind == op::last; };
  return is_result(n) && !(is_result(n - 1) && p[n - 1].in[0] == p[n].in[0]);
}

void require_own_names(const program &p) {
  std::set<std::string> names;
  for (const std::vector<node_id> *list : {&p.arguments, &p.outputs})
    for (node_id n : *list)
      if (!names.insert(p[n].name).second)
        throw std::runtime_error(p.name + ": two arguments are named " + p[n].name);
}

}  // namespace

program gradient(const program &written, const std::vector<std::string> &wanted, bool has_results) {
  const program p = adjoint::with_scans_together(opened(written));  // products with weights alone
  const std::vector<node_id> arguments = named(p, wanted);
  adjoint::reverse r(p, arguments);
  for (node_id n : p.outputs)
    if (is_differentiable(p[n].type))
      r.give(p[n].in[0], r.f.cast(r.f.argument(p[n], "d" + p[n].name), r.type_of(n)));
  for (auto n = static_cast<node_id>(p.nodes.size()); n-- > 0;) {
    if (is_first_result(p, n)) adjoint::scan_rule(r, n);
    const bool is_of_scan = r.positions[n] >= 0 || p[n].kind == op::scan || p[n].kind == op::last;
    if (!r.wants(n) || is_of_scan) continue;
    const node_id g = r.adjoint(n);
    if (g == no_node) continue;
    if (const adjoint::rule apply = adjoint::rule_of(r, n)) apply(r, n, g);
  }
  if (has_results)
    for (node_id n : p.outputs) r.f.result(p[n].in[0], p[n], p[n].name);
  for (node_id n : arguments) {
    const node_id g = r.adjoint(n);
    r.f.result(g == no_node ? r.f.number(0, r.type_of(n)) : r.here.filled(g), p[n],
               "d" + p[n].name);
  }
  require_own_names(r.f.written());
  program made = assembled(r.f.take());
  if (has_results) made.name = p.name + "_value_and_gradient";
  return made;
}

}  // namespace qkv::codegen
