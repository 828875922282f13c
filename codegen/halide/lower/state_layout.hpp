#pragma once
// The layout of the running state of an attention: the one part of its algorithm that differs
// between machines.
//   cpu: a row of lanes for each statistic (lanes: rows of the tile), then one for each row's o (lanes: columns)
//   gpu: for each row and slice of columns the cells that one thread keeps: statistics, then its columns of o
#include <Halide.h>

#include <functional>
#include <vector>

namespace qkv::codegen {

struct state_layout {
  using coordinates = std::vector<Halide::Expr>;  // before T and the outer axes

  std::vector<Halide::Var> vars;  // the same as pure variables
  Halide::Var statistic_var;      // the one that numbers the statistics
  Halide::RDom steps;  // the range that one merge updates; the last dimension counts blocks of keys
  Halide::RVar block;

  // of the cell that a step updates
  coordinates cell;
  Halide::Expr is_value;        // o, not a statistic
  Halide::Expr statistic;       // which one
  Halide::Expr row, value_row;  // of a statistic, of a value: within the tile
  Halide::Expr
      lane_row;  // `row` as a coordinate of the state: may run past the tile where lanes do
  Halide::Expr column;

  // of the others, as the cell's owner sees them
  std::function<coordinates(int statistic, Halide::Expr row, Halide::Expr column)> statistic_at;
  std::function<coordinates(Halide::Expr row, Halide::Expr column)> value_at;
};

// width: lanes, at least the tile's rows and all columns.
state_layout lanes_layout(int rows, int statistics, Halide::Expr columns, Halide::Expr width,
                          Halide::Expr blocks);

// columns: of one slice.
state_layout threads_layout(int columns, int statistics, Halide::Expr blocks);

}  // namespace qkv::codegen
