// Before: a = exp(x); b = exp(x); a + b     After: a = exp(x); a + a
#include <bit>
#include <cstdint>
#include <map>
#include <tuple>

#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {

program merge_common_steps(const program &p) {
  using key = std::tuple<op, dtype, std::vector<node_id>, std::vector<axis_id>,
                         std::vector<axis_id>, std::uint64_t, bool>;
  std::map<key, node_id> seen;
  rebuild r(p);
  return r.run([&](node n) -> node_id {
    const bool own = n.kind == op::input || n.kind == op::param || n.kind == op::output;
    if (own) return r.put(std::move(n));
    key k{n.kind,        n.type, n.in, n.shape, n.over, std::bit_cast<std::uint64_t>(n.value),
          n.less_maximum};
    if (auto it = seen.find(k); it != seen.end()) return it->second;
    return seen[k] = r.put(std::move(n));
  });
}

program opened(const program &p) {
  return distribute_weights(
      drop_shift(fold_constants(merge_common_steps(hoist_from_scan(widen(p))))));
}

program simplified(const program &p) {
  return split_sums(merge_common_steps(fold_scale(order_contractions(opened(p)))));
}

}  // namespace qkv::codegen
