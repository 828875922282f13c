// SPDX-License-Identifier: BSL-1.0
#pragma once
// Keys and values that a walk over pairs computes once for each of its blocks.
#include "codegen/plan/plan.hpp"
#include "codegen/plan/reads_along.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {

// True for 16 bits that are widened, a * K, keys of two tensors: rows in lanes read each number of
// a key by itself, many times. False for numbers as they lie in memory, whatever their order.
inline bool is_computed_for_blocks(const plan &made, node_id n) {
  const auto is_of_stage = [&](node_id x) {
    return made.cut.stored_by[x] < 0 && !is_source(made.p[x].kind);
  };
  return depends_on(
      made.p, n, [&](node_id x) { return is_of_stage(x) && !is_view(made.p[x].kind); },
      is_of_stage);
}

// The same for values, of which whole vectors of columns are read.
inline bool is_copied_for_blocks(const plan &made, node_id values, axis_id column) {
  return is_computed_for_blocks(made, values) || reads_of(made, values, column).apart > 0;
}

}  // namespace qkv::codegen
