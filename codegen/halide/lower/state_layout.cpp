// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/state_layout.hpp"

namespace qkv::codegen {

const std::string merged_lanes = "merge";
const std::string merged_block = merged_lanes + "$z";

using Halide::Expr;
using Halide::Var;
using coordinates = state_layout::coordinates;

state_layout lanes_layout(const Expr &rows, const Expr &last_row, int statistics,
                          const std::vector<Expr> &columns, const Expr &width, const Expr &blocks) {
  state_layout s;
  const int sums = static_cast<int>(columns.size());
  const Var x("x"), y("y");
  s.vars = {x, y};
  s.statistic_var = y;
  s.steps = Halide::RDom(0, width, 0, statistics + sums * rows, 0, blocks, merged_lanes);
  const Halide::RVar rx = s.steps.x, ry = s.steps.y;
  s.block = s.steps.z;
  s.cell = {rx, ry};
  s.is_value = ry >= statistics;
  s.statistic = ry;
  s.lane_row = rx;
  s.row = Halide::clamp(rx, 0, rows - 1);
  s.column = rx;
  s.sum = (ry - statistics) / rows;
  for (int k = 0; k < sums; ++k) {
    const Expr first = statistics + k * rows;
    s.sums.push_back(
        {Halide::clamp(ry - first, 0, last_row),
         Halide::clamp(rx, 0, columns[static_cast<std::size_t>(k)] - 1),
         [first](Expr row, Expr column) { return coordinates{std::move(column), row + first}; }});
  }
  if (sums > 0) s.value_row = sums == 1 ? s.sums[0].row : Halide::max(ry - statistics, 0) % rows;
  s.statistic_at = [](int k, Expr row, const Expr &) { return coordinates{std::move(row), k}; };
  return s;
}

state_layout threads_layout(int columns, int statistics, int sums, const Expr &blocks) {
  state_layout s;
  const Var x("x"), slice("slice"), y("y");
  s.vars = {x, slice, y};
  s.statistic_var = x;
  s.steps = Halide::RDom(0, statistics + sums * columns, 0, blocks, "step");
  const Halide::RVar rx = s.steps.x;
  s.block = s.steps.y;
  s.cell = {rx, slice, y};
  s.is_value = rx >= statistics;
  s.statistic = rx;
  s.lane_row = s.row = s.value_row = y;
  s.sum = (rx - statistics) / columns;
  s.column = slice * columns;
  for (int k = 0; k < sums; ++k) {
    const int first = statistics + k * columns;
    s.sums.push_back({y, slice * columns + Halide::clamp(rx - first, 0, columns - 1),
                      [=](Expr row, const Expr &column) {
                        return coordinates{column % columns + first, column / columns,
                                           std::move(row)};
                      }});
  }
  // The owner's slice stays a variable: a quotient of its column would hide whose cell it is.
  s.statistic_at = [=](int k, Expr row, const Expr &column) {
    return coordinates{k, column.same_as(s.column) ? Expr(slice) : column / columns,
                       std::move(row)};
  };
  return s;
}

}  // namespace qkv::codegen
