// SPDX-License-Identifier: BSL-1.0
#pragma once
// Products with a param, with or without a bias.
#include "codegen/program/queries.hpp"

namespace qkv::codegen {

// x of x + b, where b is a param.
inline node_id without_bias(const program &p, node_id n) {
  n = inner_of(p, n);
  if (is_unnamed(p, op::add, n))
    for (const std::size_t k : {0, 1})
      if (p[inner_of(p, p[n].in[k])].kind == op::param) return inner_of(p, p[n].in[1 - k]);
  return n;
}

// X of dot<d_model>(X, Wq), where Wq alone is a param; -1: another step.
inline node_id projected(const program &p, node_id n) {
  if (p[n].kind != op::dot) return -1;
  const node_id a = inner_of(p, p[n].in[0]), b = inner_of(p, p[n].in[1]);
  const bool is_first = p[a].kind == op::param, is_second = p[b].kind == op::param;
  return is_first == is_second ? -1 : is_first ? b : a;
}

}  // namespace qkv::codegen
