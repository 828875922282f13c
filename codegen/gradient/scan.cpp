// SPDX-License-Identifier: BSL-1.0
// scan<t>(start, step, X): the adjoint of the state after each position is a scan from the end,
// whose step is the gradient of the step with respect to its state. With the states before all
// positions, which the forward stores, and the adjoints after all of them, everything else is the
// gradient of one step that is done for all positions at once.
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "codegen/gradient/gradient.hpp"
#include "codegen/gradient/rules.hpp"
#include "codegen/gradient/scan_step.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen::adjoint {
namespace {

class scan_gradient {
 public:
  scan_gradient(reverse &r, node_id first_result)
      : r_(r),
        p_(r.forward),
        f_(r.f),
        scan_{p_[first_result].in[0], p_[first_result].in[1], p_[first_result].over[0], {}},
        state_(scan_.state),
        along_(scan_.along) {
    for (node_id n = first_result; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const node &x = p_[n];
      if ((x.kind == op::scan || x.kind == op::last) && x.in[0] == state_)
        scan_.results.push_back(n);
    }
    if (reads_all_positions()) position_ = f_.twin_of(along_);
  }

  void run() {
    const node &state = p_[state_];
    node_id after = no_node;  // adjoint of the last state
    std::map<std::string, node_id> given;
    for (std::size_t k = 0; k < scan_.results.size(); ++k) {
      node_id g = r_.adjoint(scan_.results[k]);
      if (g == no_node) continue;
      g = r_.here.filled(g);
      if (p_[scan_.results[k]].kind == op::last)
        after = after == no_node ? g : f_.add(after, g);
      else
        given[fmt::format("dy{}", k)] = g;
    }
    if (after == no_node && given.empty()) return;
    if (after == no_node) after = f_.number(0, r_.type_of(state_));
    const node_id states = result_of(op::scan, state_, scan_.next, state_);
    const node_id adjoints = adjoints_of_states(f_.expand(after, state.shape), states, given);
    give_all(states, adjoints, given);
  }

 private:
  bool is_inside(node_id n) const { return r_.positions[n] >= 0; }

  // The adjoint of the state after each position, from the last to the first; gives that of the
  // start.
  node_id adjoints_of_states(node_id after, node_id states,
                             const std::map<std::string, node_id> &given) {
    const scan_step s = step_of(r_, scan_);
    const program g = gradient(s.p, {"state"});
    node carried = p_[state_];
    carried.type = r_.type_of(state_);
    carried.in = {after};
    carried.value = static_cast<double>(f_.written().nodes.size());
    const node_id now = f_.put(std::move(carried));
    const auto element = [&](node_id whole) {
      node n;
      n.kind = op::element;
      n.type = f_.type(whole);
      n.in = {reversed(whole), now};
      n.over = {along_};
      n.shape = without(f_.shape(whole), {along_});
      return f_.put(std::move(n));
    };
    std::map<std::string, node_id> inputs;
    inputs["state"] = element(states);
    inputs["dnext"] = now;
    for (const auto &[name, n] : s.values) inputs[name] = s.elements.count(name) ? element(n) : n;
    for (node_id n : s.p.outputs)
      if (const std::string name = "d" + s.p[n].name; name != "dnext")
        inputs[name] =
            given.count(name) ? element(given.at(name)) : zeros(s.p[n].shape, s.p[n].type);
    const node_id before = spliced(g, inputs).at("dstate");
    r_.give(p_[state_].in[0], result_of(op::last, now, before, no_node));
    return reversed(result_of(op::scan, now, before, now));
  }

  // The gradients of all that the step reads from outside.
  void give_all(node_id states, node_id adjoints, const std::map<std::string, node_id> &given) {
    const scan_step s = steps_of(r_, scan_, position_);
    std::vector<std::string> wanted;
    for (const auto &[name, n] : s.sources)
      if (r_.wants(n)) wanted.push_back(name);
    if (wanted.empty()) return;
    const program g = gradient(s.p, wanted);
    std::map<std::string, node_id> inputs = s.values;
    for (const std::string &name : s.elements)
      inputs[name] = moved(inputs[name], along_, position_);
    inputs["state"] = moved(states, along_, position_);
    inputs["dnext"] = moved(adjoints, along_, position_);
    for (node_id n : s.p.outputs)
      if (const std::string name = "d" + s.p[n].name; name != "dnext")
        inputs[name] = given.count(name) ? moved(given.at(name), along_, position_)
                                         : zeros(s.p[n].shape, s.p[n].type);
    const std::map<std::string, node_id> results = spliced(g, inputs);
    for (const std::string &name : wanted) {
      const node_id g = results.at("d" + name);
      r_.give(s.sources.at(name), s.elements.count(name) ? moved(g, position_, along_) : g);
    }
  }

  // True if the step itself has the axis of the scan: it reads all positions at each.
  bool reads_all_positions() const {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (!is_inside(n)) continue;
      if (has(p_[n].shape, along_)) return true;
      for (node_id operand : p_[n].in)
        if (p_[n].kind != op::element && !is_inside(operand) && has(p_[operand].shape, along_))
          return true;
    }
    return false;
  }

  node_id moved(node_id n, axis_id from, axis_id to) {
    const axes shape = f_.shape(n);
    return from == to ? n : f_.view(op::rename, n, {from, to}, replaced(shape, from, to));
  }

  node_id zeros(const axes &shape, dtype type) { return f_.expand(f_.number(0, type), shape); }

  node_id reversed(node_id whole) {
    const node_id last = f_.binary(op::sub, f_.size(along_), f_.number(1, i32));
    return f_.gather(whole, f_.binary(op::sub, last, f_.index(along_)), along_, f_.shape(whole));
  }

  node_id result_of(op kind, node_id state, node_id next, node_id wanted) {
    node n;
    n.kind = kind;
    n.in = {state, next};
    n.over = {along_};
    n.shape = f_.shape(state);
    n.type = f_.type(state);
    if (kind == op::scan) {
      n.in.push_back(wanted);
      n.shape = with({along_}, n.shape);
    }
    return f_.put(std::move(n));
  }

  // The steps of a program, with these in place of its inputs; its results by name.
  std::map<std::string, node_id> spliced(const program &g,
                                         const std::map<std::string, node_id> &inputs) {
    std::vector<node_id> at;
    std::map<std::string, node_id> results;
    const auto own = static_cast<axis_id>(f_.written().axes.size());
    std::map<axis_id, axis_id> further;
    for (axis_id a = own; a < static_cast<axis_id>(g.axes.size()); ++a)
      further[a] = f_.twin_of(g.axes[a].root);
    const auto renamed = [&](axes list) {
      for (axis_id &a : list)
        if (const auto it = further.find(a); it != further.end()) a = it->second;
      return list;
    };
    for (node n : g.nodes) {
      for (node_id &operand : n.in) operand = at[operand];
      n.shape = renamed(n.shape), n.over = renamed(n.over);
      if (n.kind == op::input)
        at.push_back(f_.cast(inputs.at(n.name), n.type));
      else if (n.kind == op::output)
        at.push_back(results[n.name] = n.in[0]);
      else
        at.push_back(f_.put(std::move(n)));
    }
    return results;
  }

  reverse &r_;
  const program &p_;
  formulas &f_;
  scan_parts scan_;
  const node_id state_;
  const axis_id along_;
  axis_id position_ = along_;  // the axis of all positions at once
};

}  // namespace

void scan_rule(reverse &r, node_id first_result) { scan_gradient(r, first_result).run(); }

}  // namespace qkv::codegen::adjoint
