// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/score_masks.hpp"

#include <algorithm>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {

std::vector<node_id> masks_of_weights(const program &p, node_id weights) {
  std::vector<node_id> conditions;
  std::set<node_id> seen;
  walk(
      p, p[weights].in[0],
      [&](node_id n) {
        const node &x = p[n];
        if (x.kind != op::mask && x.kind != op::where) return is_pointwise(x.kind) && x.type != b8;
        const node_id condition = x.kind == op::mask ? x.in[1] : x.in[0];
        if (varies_along(p[condition], p[weights].over)) conditions.push_back(condition);
        return true;
      },
      seen);
  return conditions;
}

node_id unmasked(const program &p, node_id scores) {
  scores = inner_of(p, scores);
  while (is_unnamed(p, op::mask, scores)) scores = inner_of(p, p[scores].in[0]);
  return scores;
}

bool is_causal(const program &p, node_id condition, const std::vector<axis_id> &keys) {
  return all_bound_distance(positions_where(p, condition, true), keys,
                            [](const interval &d) { return d.most <= 0; });
}

std::optional<axis_id> axis_of_padding(const program &p, node_id condition) {
  const std::vector<position_set> shown = positions_where(p, condition, true);
  for (const position_set &set : shown)
    for (const auto &[form, where] : set)
      if (const auto beyond = position_less_number_in(form); beyond && where.most < 0)
        return beyond->position;
  return {};
}

bool is_padding(const program &p, node_id condition) {
  const std::vector<position_set> shown = positions_where(p, condition, true);
  return !shown.empty() && std::all_of(shown.begin(), shown.end(), [](const position_set &set) {
    const auto is_padding = [](const auto &bound) {
      return position_less_number_in(bound.first).has_value();
    };
    return !set.empty() && std::all_of(set.begin(), set.end(), is_padding);
  });
}

}  // namespace qkv::codegen
