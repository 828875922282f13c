#pragma once
// Finds the attentions of a program: products of weights over keys and values, which are streamed.
#include <map>
#include <set>
#include <vector>

#include "codegen/plan/stages.hpp"

namespace qkv::codegen {

struct attentions {
  std::map<node_id, attention_stage> by_core;
  std::map<node_id, std::set<node_id>>
      cones;                // of each: the steps recomputed for its scores and its gate
  std::vector<bool> taken;  // per step: computed inside one of them

  bool is_score_dot(node_id) const;
  bool is_lse(node_id) const;
};

attentions find_attentions(const program &);

}  // namespace qkv::codegen
