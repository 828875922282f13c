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

}  // namespace qkv::codegen
