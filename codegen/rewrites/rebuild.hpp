// SPDX-License-Identifier: BSL-1.0
#pragma once
// The common part of rewrites: visits the nodes in order and puts each, or a replacement, into a
// new program.
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "codegen/program/assemble.hpp"

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

  node_id number(double value, dtype type) {
    node n;
    n.kind = op::number;
    n.type = type;
    n.value = value;
    return put(std::move(n));
  }

  // The new node with the value of an old one, which must have been visited.
  node_id now(node_id old) const { return at_[old]; }
  node &edit(node_id n) { return to_.nodes[n]; }

  // `replace` gets each node, its operands already those of the new program, and returns where its
  // value is now.
  program run(const std::function<node_id(node)> &replace) {
    for (std::size_t k = 0; k < from_.nodes.size(); ++k) {
      node n = from_.nodes[k];
      for (node_id &operand : n.in) operand = at_[operand];
      const bool argument = n.kind == op::input || n.kind == op::param;
      const node_id first = static_cast<node_id>(to_.nodes.size());
      at_[k] = replace(std::move(n));
      // The signature refers to the argument, not to its replacement.
      if (argument) arguments_[static_cast<node_id>(k)] = first;
    }
    for (node_id argument : from_.arguments) to_.arguments.push_back(arguments_.at(argument));
    for (node_id output : from_.outputs) to_.outputs.push_back(at_[output]);
    return without_dead_steps(std::move(to_));
  }

 private:
  const program &from_;
  program to_;
  std::vector<node_id> at_;
  std::map<node_id, node_id> arguments_;  // argument of the old program -> its new node
};

}  // namespace qkv::codegen
