#pragma once
// Questions that decide what is stored.
#include <vector>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {

// A step that is recomputed where it is used, unless something asks for it to be stored.
inline bool is_inlinable(const program &p, node_id n) {
  const op k = p[n].kind;
  return is_source(k) || k == op::uniform || is_pointwise(k) || is_view(k) || is_gather(k) ||
         k == op::mask;
}

// A step whose value is a few instructions away from its operands' values.
inline bool is_cheap(const program &p, node_id n) {
  switch (p[n].kind) {
    case op::uniform:
    case op::exp:
    case op::log:
    case op::tanh:
    case op::sigmoid:
    case op::gelu:
    case op::silu:
    case op::elu:
    case op::erf:
    case op::cos:
    case op::sin:
    case op::pow:
      return false;
    default:
      return is_inlinable(p, n);
  }
}

// Per step: whether mask() may have removed positions that the step still knows to be absent.
inline std::vector<bool> masked_steps(const program &p) {
  std::vector<bool> masked;
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n) {
    bool some = p[n].kind == op::mask;
    if (is_inlinable(p, n))
      for (node_id operand : p[n].in) some = some || masked[operand];
    masked.push_back(some);
  }
  return masked;
}

}  // namespace qkv::codegen
