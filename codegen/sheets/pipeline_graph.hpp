// SPDX-License-Identifier: BSL-1.0
#pragma once
// The pipeline of a plan as boxes and arrows, before anything is placed.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "codegen/plan/plan.hpp"

namespace qkv::codegen {

struct pipeline_box {
  node_id step = no_step;
  int stage = -1;         // index of the stage that computes it; -1: an argument
  bool is_stored = true;  // false: it exists only in tiles or registers
  std::string label;      // its operation with the numbers and positions that are operands
  std::string extents;    // "(1,8,4,64)", with names of axes where sizes are unknown
  std::string words;      // name, shape and place, for readers who do not see the box
};

struct pipeline_graph {
  std::string name;
  std::vector<pipeline_box> boxes;          // arguments first, then stage by stage, operands first
  std::vector<std::pair<int, int>> arrows;  // from and to, as indices of boxes
  std::vector<std::string> stages;          // kinds, in the order of computation
};

// A step that several stages recompute has a box in each. Numbers and positions have none: they are
// part of the labels of their users. `size`: of each axis, -1 where it is unknown.
pipeline_graph graph_of(const plan &, const std::vector<std::int64_t> &size);

}  // namespace qkv::codegen
