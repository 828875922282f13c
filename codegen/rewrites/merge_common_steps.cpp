// SPDX-License-Identifier: BSL-1.0
// Before: a = exp(x); b = exp(x); a + b     After: a = exp(x); a + a
#include <map>

#include "codegen/program/step_key.hpp"
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {

program merge_common_steps(const program &p) {
  std::map<step_key, node_id> seen;
  rebuild r(p);
  return r.run([&](node n) -> node_id {
    const bool own = n.kind == op::input || n.kind == op::param || n.kind == op::output;
    if (own) return r.put(std::move(n));
    const step_key k = key_of(n);
    if (auto it = seen.find(k); it != seen.end()) return it->second;
    return seen[k] = r.put(std::move(n));
  });
}

program opened(const program &p) {
  return distribute_weights(
      join_softplus(drop_shift(fold_constants(merge_common_steps(hoist_from_scan(widen(p)))))));
}

program simplified(const program &p) {
  return split_sums(put_first(merge_common_steps(fold_scale(order_contractions(opened(p))))));
}

}  // namespace qkv::codegen
