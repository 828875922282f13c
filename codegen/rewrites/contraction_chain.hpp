// SPDX-License-Identifier: BSL-1.0
#pragma once
// Chains of contractions: the cost of each order, and the cheapest one.
#include <map>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

using shape = std::vector<axis_id>;
using call_sizes = std::map<axis_id, double>;  // by root; those that are missing count as usual

// A product to be: a factor as it is (id >= 0), or two products contracted.
struct tree {
  node_id factor = -1;
  int a = -1, b = -1;  // positions among the trees
  shape axes;
  shape over;  // of the contraction
};

// The axes that each contraction iterates over.
std::vector<shape> walked(const std::vector<tree> &);

// The contractions of a program, as chains: those that serve one contraction alone are opened into
// its factors.
class chain {
 public:
  explicit chain(const program &);

  // The factors below this contraction, and the axes that all contractions on the way sum over.
  void collect(node_id, std::vector<node_id> &factors, shape &over) const;

  // True if the inner contraction serves only this one, and the other operand has no axis that it
  // or those below it sum over. No operand may be masked: an absent element hides its factor, and
  // another order would multiply it with a different one.
  bool opens(node_id inner, node_id other) const;

  // True if this factor may be infinite or NaN where one of these axes is empty, like a maximum
  // over it. The sum over that axis is 0 whatever its terms are, but 0 times such a factor is NaN.
  bool needs_positions(node_id factor, const shape &over) const;

  // The axes that each contraction below this one iterates over, as the spec is written.
  void walked(node_id, std::vector<shape> &all) const;

  // Operations. Batch axes count as a usual number of them always.
  double cost(const std::vector<shape> &contractions, const call_sizes &) const;
  double cost(const shape &axes, const call_sizes &) const;

  // True if the call decides the size of this axis and costs are compared there.
  bool is_compared(axis_id) const;

 private:
  void summed(node_id, shape &over) const;
  bool reaches(node_id, axis_id) const;
  double size(axis_id, const call_sizes &) const;

  const program &p_;
  std::vector<int> uses_;
  std::vector<bool> masked_;
};

// The cheapest order of these factors at these sizes, by trying all: few factors. Operands first,
// the root last; empty when each order would store weights.
std::vector<tree> cheapest_order(const program &, const chain &,
                                 const std::vector<node_id> &factors, const shape &over,
                                 const call_sizes &);

}  // namespace qkv::codegen
