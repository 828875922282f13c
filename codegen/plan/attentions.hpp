// SPDX-License-Identifier: BSL-1.0
#pragma once
// Finds the attentions of a program: sums over keys of pairs, perhaps times values, which are
// streamed.
#include <map>
#include <set>
#include <vector>

#include "codegen/plan/stages.hpp"

namespace qkv::codegen {

struct attentions {
  std::vector<attention_stage> stages;
  std::vector<std::set<node_id>> cones;    // of each: the steps recomputed for its pairs
  std::map<node_id, std::size_t> by_core;  // the stage of each sum
  std::vector<bool> taken;                 // per step: computed inside one of them

  bool is_product(node_id) const;
  bool is_lse(node_id) const;
};

attentions find_attentions(const program &);

// Sums that one walk over the same pairs can feed become one stage.
std::vector<attention_stage> grouped(const program &, std::vector<attention_stage>);

}  // namespace qkv::codegen
