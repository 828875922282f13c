// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/score_keys.hpp"

#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {

std::vector<axis_id> keys_of_scores(const program &p,
                                    const std::vector<std::vector<node_id>> &users,
                                    node_id scores) {
  std::vector<axis_id> keys;
  walk_users(users, scores, [&](node_id user, node_id) {
    const op kind = p[user].kind;
    if (kind == op::softmax || kind == op::logsumexp) keys = with(keys, p[user].over);
    return is_pointwise(kind) || kind == op::mask;
  });
  return keys;
}

}  // namespace qkv::codegen
