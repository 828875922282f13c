// SPDX-License-Identifier: BSL-1.0
#pragma once
// Clamps of positions: min(max(index(kv) - index(seq), -64), 64) + 64.
#include <cstddef>
#include <optional>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {

// The number of a min or a max in nested ones that no let() names.
inline std::optional<double> clamp_of(const program &p, node_id n, op kind) {
  const node &x = p[n];
  if (!x.name.empty() || (x.kind != op::min && x.kind != op::max)) return {};
  for (const std::size_t k : {0, 1})
    if (x.kind == kind && is_number(p, x.in[k])) return p[x.in[k]].value;
  const std::optional<double> below = clamp_of(p, x.in[0], kind);
  return below ? below : clamp_of(p, x.in[1], kind);
}

// A step, and the number that is added to it.
struct moved_step {
  node_id of;
  double by = 0;
};
inline moved_step moved_clamp_of(const program &p, node_id n) {
  const node &x = p[n];
  if (!x.name.empty() || (x.kind != op::add && x.kind != op::sub)) return {n};
  if (is_number(p, x.in[1]))
    return {x.in[0], x.kind == op::add ? p[x.in[1]].value : -p[x.in[1]].value};
  if (x.kind == op::add && is_number(p, x.in[0])) return {x.in[1], p[x.in[0]].value};
  return {n};
}

}  // namespace qkv::codegen
