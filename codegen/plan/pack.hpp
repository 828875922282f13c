// SPDX-License-Identifier: BSL-1.0
#pragma once
// The layout of params that a contraction reads as its right operand: panels of columns, packed
// once by the runtime.
#include <vector>

#include "codegen/plan/stages.hpp"
#include "codegen/program/program.hpp"

namespace qkv::codegen {

struct pack {
  node_id param = -1;
  int panel = 0;                 // columns of a panel, zero-padded: the machine decides it
  std::vector<axis_id> outer;    // axes that neither rows nor columns contain
  std::vector<axis_id> rows;     // the contracted axes, row-major
  std::vector<axis_id> columns;  // one axis
};

// The params that are packed: right operands of contractions. Their panels are those of no machine.
std::vector<pack> packs_of(const program &, const stages &);

}  // namespace qkv::codegen
