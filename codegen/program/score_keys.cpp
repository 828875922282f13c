#include "codegen/program/score_keys.hpp"

#include <set>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {

std::vector<axis_id> keys_of_scores(const program &p,
                                    const std::vector<std::vector<node_id>> &users,
                                    node_id scores) {
  std::vector<axis_id> keys;
  std::set<node_id> seen;
  std::vector<node_id> next = {scores};
  while (!next.empty()) {
    const node_id n = next.back();
    next.pop_back();
    if (!seen.insert(n).second) continue;
    for (node_id user : users[n]) {
      const op kind = p[user].kind;
      if (kind == op::softmax || kind == op::logsumexp) keys = with(keys, p[user].over);
      if (is_pointwise(kind) || kind == op::mask) next.push_back(user);
    }
  }
  return keys;
}

}  // namespace qkv::codegen
