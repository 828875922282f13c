// SPDX-License-Identifier: BSL-1.0
#pragma once
// The step of a scan as a program of its own, to be differentiated.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/gradient/reverse.hpp"

namespace qkv::codegen::adjoint {

// A scan of the forward: its state, the next one, its axis and its results.
struct scan_parts {
  node_id state, next;
  axis_id along;
  std::vector<node_id> results;
};

// Inputs: the state, then x0, x1, .. for what the step reads from outside. Outputs: next, and y<k>
// for result k of the scan.
struct scan_step {
  program p;
  std::map<std::string, node_id> sources;  // steps of the forward, by the names of inputs
  std::map<std::string, node_id> values;   // the inputs x<k>, as the backward reads them
  std::set<std::string> elements;          // inputs of which the step sees one position
};

// The step at one position.
scan_step step_of(reverse &, const scan_parts &);
// The step for all positions at once, which are along this axis.
scan_step steps_of(reverse &, const scan_parts &, axis_id positions);

// The axes with one in place of another.
axes replaced(axes, axis_id from, axis_id to);

}  // namespace qkv::codegen::adjoint
