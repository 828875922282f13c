// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/signed_distance.hpp"

#include "codegen/program/queries.hpp"

namespace qkv::codegen {

signed_distance distance_of(const program &p, const std::vector<sign> &signs,
                            const std::vector<bool> &positions, node_id n) {
  n = inner_of(p, n);
  const node &x = p[n];
  if (x.type == i32) return {affine_of(p, n).form, 1};
  signed_distance d;
  if (!x.name.empty()) return d;
  if (x.kind == op::cast) return distance_of(p, signs, positions, x.in[0]);
  if (x.kind == op::neg) d = distance_of(p, signs, positions, x.in[0]), d.factor = -d.factor;
  if (x.kind != op::mul && x.kind != op::div) return d;
  for (const std::size_t k : {0, 1}) {
    if (!positions[x.in[k]] || (x.kind == op::div && k == 1)) continue;
    const signed_distance part = distance_of(p, signs, positions, x.in[k]);
    if (positions[x.in[1 - k]] && (part.factor == 0 || !difference_in(part.of))) continue;
    const sign by = signs[x.in[1 - k]];
    d = part;
    if (by != sign::not_negative) d.factor = by == sign::unknown ? 0 : -d.factor;
  }
  return d;
}

}  // namespace qkv::codegen
