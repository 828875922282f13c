// SPDX-License-Identifier: BSL-1.0
#pragma once
// State that the rules of all operations share: forward values, adjoints of the steps so far, and
// the steps that the backward is written with.
#include <stdexcept>
#include <string>
#include <vector>

#include "codegen/gradient/again.hpp"

namespace qkv::codegen::adjoint {

// True if a step of this type has an adjoint.
bool is_differentiable(dtype);

class reverse {
 public:
  // `wanted`: arguments of p.
  reverse(const program &p, const std::vector<node_id> &wanted);

  const program &forward;
  formulas f;
  presence here;
  again forward_values;
  const std::vector<std::vector<node_id>> users;
  const std::vector<axis_id> positions;  // of steps inside a scan: its axis; else -1

  // The value of a step in the type of `like`'s arithmetic, as a number and as a factor.
  node_id value(node_id n, node_id like);
  node_id factor(node_id n, node_id like);
  // The value of a step in its own type.
  node_id value_of(node_id n) { return forward_values.value(n); }
  // The type in which the adjoint of a step is summed.
  dtype type_of(node_id n) const;

  // True if the result depends on a wanted argument through this step.
  bool wants(node_id n) const { return wanted_[n]; }
  // Adds to the adjoint of a step. Axes of g that the step lacks are summed; g must have each axis
  // along which the result varies.
  void give(node_id n, node_id g);
  // An adjoint summed over some of its axes; absent where all its elements are.
  node_id summed(node_id g, const axes &over);
  // Adds g * by, summed over the axes that the step lacks.
  void give_product(node_id n, node_id g, node_id by);
  // The adjoint of a step whose users have all been visited, with all of its axes, and perhaps more
  // that are still to be summed; no_node if it is 0.
  node_id adjoint(node_id n);

  // "mha_gradient: <why>: dot(X, W)", to throw.
  std::runtime_error refusal(node_id n, const std::string &why) const;

 private:
  // The slope of a head times distances lacks the batch: its adjoint is summed over the batch after
  // the sum over pairs, which is streamed.
  bool keeps_axes(node_id n, node_id g) const;

  std::vector<bool> wanted_;
  std::vector<node_id> sums_;
};

}  // namespace qkv::codegen::adjoint
