// SPDX-License-Identifier: BSL-1.0
// Before: dot<d_k>(Q, K), Q and K stored as bf16     After: dot<d_k>(cast<f32>(Q), cast<f32>(K))
// 16-bit types are for storage: every step computes in f32, and the output is rounded once.
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

bool is_narrow(dtype t) { return t == bf16 || t == f16; }

}  // namespace

program widen(const program &p) {
  rebuild r(p);
  return r.run([&](node n) -> node_id {
    if (!is_narrow(n.type) || n.kind == op::cast || n.kind == op::output)
      return r.put(std::move(n));
    if (n.kind != op::input && n.kind != op::param) {
      n.type = f32;
      return r.put(std::move(n));
    }
    node cast;
    cast.kind = op::cast;
    cast.shape = n.shape;
    cast.in = {r.put(std::move(n))};
    return r.put(std::move(cast));
  });
}

}  // namespace qkv::codegen
