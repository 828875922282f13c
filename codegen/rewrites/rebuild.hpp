#pragma once
// What every rewrite does: walk the nodes in order, put each (or something in its place) into a new program.
#include <cmath>
#include <functional>
#include <utility>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

class rebuild {
 public:
  explicit rebuild(const program &from) : from_(from), to_(from), at_(from.nodes.size(), -1) {
    to_.nodes.clear();
    to_.arguments.clear();
    to_.outputs.clear();
  }

  const program &to() const { return to_; }

  node_id put(node n) {
    to_.nodes.push_back(std::move(n));
    return static_cast<node_id>(to_.nodes.size()) - 1;
  }

  node_id number(double value) {
    node n;
    n.kind = op::number;
    n.value = value;
    return put(std::move(n));
  }

  // `replace` gets each node, its operands already those of the new program, and returns where its value is now.
  program run(const std::function<node_id(node)> &replace) {
    for (std::size_t k = 0; k < from_.nodes.size(); ++k) {
      node n = from_.nodes[k];
      for (node_id &operand : n.in) operand = at_[operand];
      at_[k] = replace(std::move(n));
    }
    for (node_id argument : from_.arguments) to_.arguments.push_back(at_[argument]);
    for (node_id output : from_.outputs) to_.outputs.push_back(at_[output]);
    return drop_unused(std::move(to_));
  }

  // Removes the steps that no output needs; arguments stay, used or not.
  static program drop_unused(program p) {
    std::vector<bool> used(p.nodes.size(), false);
    for (node_id n : p.outputs) used[n] = true;
    for (node_id n : p.arguments) used[n] = true;
    for (std::size_t k = p.nodes.size(); k-- > 0;)
      if (used[k])
        for (node_id operand : p.nodes[k].in) used[operand] = true;
    std::vector<node_id> at(p.nodes.size(), -1);
    std::vector<node> kept;
    for (std::size_t k = 0; k < p.nodes.size(); ++k) {
      if (!used[k]) continue;
      at[k] = static_cast<node_id>(kept.size());
      kept.push_back(std::move(p.nodes[k]));
      for (node_id &operand : kept.back().in) operand = at[operand];
    }
    p.nodes = std::move(kept);
    for (node_id &n : p.arguments) n = at[n];
    for (node_id &n : p.outputs) n = at[n];
    return p;
  }

 private:
  const program &from_;
  program to_;
  std::vector<node_id> at_;
};

}  // namespace qkv::codegen
