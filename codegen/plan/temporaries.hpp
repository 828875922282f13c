// SPDX-License-Identifier: BSL-1.0
#pragma once
// Numbers that maps and scans compute on the way to those that they store: folds, and the table of
// a scan.
#include <vector>

#include "codegen/plan/stages.hpp"

namespace qkv::codegen {

// The folds of a reduction, softmax or normalisation, each one number for all positions that it
// folds: a maximum and a total, say. `masked` is the result of masked_steps().
int folds_of(const program &, const std::vector<bool> &masked, node_id);

// The table of a scan has a column for each position along some axes, of which each is a recurrence
// of its own, and rows for positions along the others.
struct scan_table {
  scan_table(const program &, const scan_stage &);

  std::vector<axis_id> rows;     // axes along which some step reads other positions than its own
  std::vector<axis_id> columns;  // every other axis of the state and of the steps

  // The axes of its rows, block by block: of the state before and after a step, of what the step
  // folds, of the results.
  std::vector<std::vector<axis_id>> blocks(const std::vector<bool> &masked) const;

 private:
  std::vector<axis_id> rows_of(const std::vector<axis_id> &shape) const;

  const program &p_;
  const scan_stage &s_;
};

}  // namespace qkv::codegen
