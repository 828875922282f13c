// SPDX-License-Identifier: BSL-1.0
#pragma once
// The layout of the running state of an attention, which differs between kinds of machines.
//   cpu: a row of lanes for each statistic (lanes: rows of the tile), then for each sum that has
//        columns one for each row's o (lanes: columns)
//   gpu: for each row and slice of columns the cells that one thread keeps: statistics, then its
//        columns of the o of each sum
#include <Halide.h>

#include <functional>
#include <string>
#include <vector>

namespace qkv::codegen {

struct state_layout {
  using coordinates = std::vector<Halide::Expr>;  // before T and the outer axes

  // The values of one sum: where the cell that a step updates belongs in it, within the tile; and
  // the coordinates of any value.
  struct values {
    Halide::Expr row, column;
    std::function<coordinates(Halide::Expr row, Halide::Expr column)> at;
  };

  std::vector<Halide::Var> vars;  // the same as pure variables
  Halide::Var statistic_var;      // the one that numbers the statistics
  Halide::RDom steps;  // the range that one merge updates; the last dimension counts blocks of keys
  Halide::RVar block;

  // of the cell that a step updates
  coordinates cell;
  Halide::Expr is_value;   // of a sum, not a statistic
  Halide::Expr sum;        // which one
  Halide::Expr statistic;  // which one
  Halide::Expr row;        // of a statistic, within the tile
  Halide::Expr lane_row;   // `row` as a coordinate of the state: lanes may run past the tile
  Halide::Expr value_row;  // of a value of any sum, within the tile
  Halide::Expr column;     // stands for the cell's own column in statistic_at
  std::vector<values> sums;

  // of the others, as the cell's owner sees them
  std::function<coordinates(int statistic, Halide::Expr row, Halide::Expr column)> statistic_at;
};

// The name of the steps of `lanes_layout`.
extern const std::string merged_lanes;
// The last of them: the block of keys.
extern const std::string merged_block;

// columns: of each sum. width: lanes, at least the tile's rows and all columns.
state_layout lanes_layout(const Halide::Expr &rows, const Halide::Expr &last_row, int statistics,
                          const std::vector<Halide::Expr> &columns, const Halide::Expr &width,
                          const Halide::Expr &blocks);

// columns: of one slice, the same for all sums.
state_layout threads_layout(int columns, int statistics, int sums, const Halide::Expr &blocks);

}  // namespace qkv::codegen
