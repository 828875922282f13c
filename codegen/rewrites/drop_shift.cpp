// SPDX-License-Identifier: BSL-1.0
// Before: softmax<kv>(s - max<kv>(s))     After: softmax<kv>(s), marked less_maximum
// Softmax cancels terms that are constant along its axes, and subtracts the maximum itself. A
// separate maximum would have to be known before the first key, and the scores would have to be
// stored. The mark keeps IEEE 754 in rows whose visible scores are all -inf: -inf - -inf is NaN,
// where softmax alone gives 0.

#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

// Only shifts that cannot be infinite where the scores are not: a number, or the maximum of these
// very scores.
bool is_dropped(const program &p, node_id scores, node_id shift, const std::vector<axis_id> &over) {
  const node &x = p[shift];
  if (x.kind == op::number) return std::isfinite(x.value);
  return x.kind == op::max_over && x.in[0] == scores && x.over == over;
}

}  // namespace

program drop_shift(const program &p) {
  rebuild r(p);
  return r.run([&](node n) -> node_id {
    while (n.kind == op::softmax) {
      const node &x = r.to()[n.in[0]];
      const bool shifted = (x.kind == op::sub || x.kind == op::add) && is_floating(x.type);
      if (!shifted || r.to()[x.in[0]].shape != x.shape ||
          !is_dropped(r.to(), x.in[0], x.in[1], n.over))
        break;
      if (x.kind == op::sub && r.to()[x.in[1]].kind == op::max_over) n.less_maximum = true;
      n.in[0] = x.in[0];
    }
    return r.put(std::move(n));
  });
}

}  // namespace qkv::codegen
