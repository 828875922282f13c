// SPDX-License-Identifier: BSL-1.0
#include "codegen/gradient/scan_step.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/program/queries.hpp"

namespace qkv::codegen::adjoint {

axes replaced(axes shape, axis_id from, axis_id to) {
  std::replace(shape.begin(), shape.end(), from, to);
  return shape;
}

namespace {

class step_writer {
 public:
  // `positions`: the axis of all positions at once, or no_node.
  step_writer(reverse &r, const scan_parts &s, axis_id positions)
      : r_(r), scan_(s), positions_(positions) {
    step_.p.name = r.forward.name;
    step_.p.axes = r.f.written().axes;
    step_.p.conditions = r.forward.conditions;
  }

  scan_step run() {
    const node &state = r_.forward[scan_.state];
    made_[scan_.state] = input("state", state.type, lifted(state.shape));
    const node_id next = copy(scan_.next);
    {  // an absent next state leaves the state as it is, for the results of this position, too
      formulas f(std::move(step_.p));
      presence here(f);
      const node_id kept = here.of(next);
      if (kept != everywhere) made_[scan_.next] = f.where(kept, next, made_.at(scan_.state));
      step_.p = f.take();
      output(made_.at(scan_.next), "next");
    }
    for (std::size_t k = 0; k < scan_.results.size(); ++k) {
      const node &result = r_.forward[scan_.results[k]];
      if (result.kind == op::scan) output(copy(result.in.back()), fmt::format("y{}", k));
    }
    return std::move(step_);
  }

 private:
  bool at_once() const { return positions_ != no_node; }
  axes lifted(const axes &shape) const { return at_once() ? with({positions_}, shape) : shape; }

  node_id put(node n) {
    step_.p.nodes.push_back(std::move(n));
    return static_cast<node_id>(step_.p.nodes.size()) - 1;
  }

  node_id input(std::string name, dtype type, axes shape) {
    node n;
    n.kind = op::input;
    n.type = type;
    n.shape = std::move(shape);
    n.name = std::move(name);
    step_.p.arguments.push_back(put(std::move(n)));
    return step_.p.arguments.back();
  }

  // Every result has the axis of all positions: a value that does not vary along it is repeated.
  void output(node_id value, std::string name) {
    formulas f(std::move(step_.p));
    value = f.expand(value, lifted(f.shape(value)));
    step_.p = f.take();
    node n;
    n.kind = op::output;
    n.type = step_.p[value].type;
    n.shape = step_.p[value].shape;
    n.in = {value};
    n.name = std::move(name);
    step_.p.outputs.push_back(put(std::move(n)));
  }

  // An input for a step of the backward.
  node_id read(node_id value, bool is_element) {
    const std::string name = fmt::format("x{}", step_.values.size());
    step_.values[name] = value;
    axes shape = r_.f.shape(value);
    if (is_element && has(shape, scan_.along)) step_.elements.insert(name);
    if (is_element)
      shape = at_once() ? replaced(shape, scan_.along, positions_) : without(shape, {scan_.along});
    return input(name, r_.f.type(value), shape);
  }

  // Absence is an input of its own.
  node_id outside(node_id n, bool is_element) {
    const node_id value = r_.value_of(n), present = r_.here.of(value);
    const node_id number = read(r_.here.filled(value), is_element);
    step_.sources[step_.p[number].name] = n;
    if (present == everywhere) return number;
    node mask;
    mask.kind = op::mask;
    mask.type = step_.p[number].type;
    mask.shape = step_.p[number].shape;
    mask.in = {number, read(present, is_element)};
    return put(std::move(mask));
  }

  node_id copy(node_id n) {
    if (const auto it = made_.find(n); it != made_.end()) return it->second;
    node x = r_.forward[n];
    const bool is_constant = is_source(x.kind) && x.kind != op::input && x.kind != op::param;
    if (x.kind == op::element) return made_[n] = outside(x.in[0], true);
    if (r_.positions[n] < 0 && !is_constant) return made_[n] = outside(n, false);
    bool varies = false;
    for (node_id &operand : x.in) {
      operand = copy(operand);
      varies = varies || (at_once() && has(step_.p[operand].shape, positions_));
    }
    if (varies) x.shape = lifted(x.shape);
    x.name.clear();
    return made_[n] = put(std::move(x));
  }

  reverse &r_;
  const scan_parts &scan_;
  const axis_id positions_;
  scan_step step_;
  std::map<node_id, node_id> made_;  // by the steps of the forward
};

}  // namespace

scan_step step_of(reverse &r, const scan_parts &s) { return step_writer(r, s, no_node).run(); }
scan_step steps_of(reverse &r, const scan_parts &s, axis_id positions) {
  return step_writer(r, s, positions).run();
}

}  // namespace qkv::codegen::adjoint
