// SPDX-License-Identifier: BSL-1.0
#pragma once
// The algorithm of a scan: one table, each column of it a recurrence of its own, updated in place
// in the order of the positions. Its rows are the state before and after a step, what the step
// contracts, and the results.
#include <Halide.h>

#include <vector>

#include "codegen/halide/lower/context.hpp"

namespace qkv::codegen {

struct scan_funcs {
  Halide::Func table;  // (lane, row, around...)
  Halide::Var lane{"lane"}, row{"row"};
  bool has_lane = false;                     // else lane is 0
  std::vector<Halide::Var> around;           // innermost first
  std::vector<std::vector<axis_id>> blocks;  // axes of the table's rows, block by block
  std::vector<axis_id> columns;              // axes of its lanes and of `around`
  std::vector<std::vector<axis_id>> folds;   // axes of one fold of a step, in one loop
  Halide::RDom steps;                        // x: within a phase; y: the phase; z: the position
  struct output {
    Halide::Func out;
    std::vector<Halide::Var> position;  // innermost first
  };
  std::vector<output> outputs;  // one per root
};

scan_funcs lower_scan(context &, const scan_stage &);

}  // namespace qkv::codegen
