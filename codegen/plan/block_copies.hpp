// SPDX-License-Identifier: BSL-1.0
#pragma once
// Operands that are computed once for a tile that reads them again and again: keys and values of a
// block, rows of a contraction.
#include "codegen/plan/plan.hpp"
#include "codegen/plan/reads_along.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {

// True for 16 bits that are widened, a * K, keys of two tensors: rows in lanes read each number of
// a key by itself, many times. False for numbers as they lie in memory, whatever their order.
inline bool is_more_than_a_read(const plan &made, node_id n) {
  const auto is_of_stage = [&](node_id x) {
    return made.cut.stored_by[x] < 0 && !is_source(made.p[x].kind);
  };
  return depends_on(
      made.p, n, [&](node_id x) { return is_of_stage(x) && !is_view(made.p[x].kind); },
      is_of_stage);
}

// The same for values, of which whole vectors of columns are read.
inline bool is_copied_for_blocks(const plan &made, node_id values, axis_id column) {
  return is_more_than_a_read(made, values) || reads_of(made, values, column).apart > 0;
}

// True for the left operand of a contraction where the rows of a tile are worth a copy: vectors of
// them are computed, a product reads one number at a time. Not where they are cheap and lie apart,
// as those of a sum over positions, nor where positions may be absent, or weights empty.
inline bool are_rows_copied(const plan &made, const contraction_stage &s) {
  const program &p = made.p;
  if (p[s.core].over.empty()) return false;  // an outer product
  if (!is_more_than_a_read(made, s.left) || steps_with_gaps(p)[s.left]) return false;
  if (reads_of(made, s.left, p[s.core].over.back()).apart == 0) return true;
  const auto is_of_stage = [&](node_id n) { return made.cut.stored_by[n] < 0; };
  return depends_on(
      p, s.left, [&](node_id n) { return is_of_stage(n) && !is_cheap(p, n); }, is_of_stage);
}

}  // namespace qkv::codegen
