// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/tensor_operand.hpp"

namespace qkv::codegen {

std::optional<tensor_operand> operand_of(const program &p, const stages &cut, node_id n,
                                         const std::vector<bool> &gaps) {
  if (gaps[n] || p[n].type != f32) return std::nullopt;
  tensor_operand found;
  while (true) {
    const node &x = p[n];
    found.memory = n;
    if (x.kind == op::input || x.kind == op::param || cut.stored_by[n] >= 0) return found;
    const bool widens = x.kind == op::cast && (p[x.in[0]].type == bf16 || p[x.in[0]].type == f16);
    if (x.kind == op::rename || x.kind == op::split)
      found.views.push_back(n);
    else if (!widens)
      return std::nullopt;
    n = x.in[0];
  }
}

}  // namespace qkv::codegen
