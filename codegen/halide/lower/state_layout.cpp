#include "codegen/halide/lower/state_layout.hpp"

namespace qkv::codegen {

using Halide::Expr;
using Halide::Var;
using coordinates = state_layout::coordinates;

state_layout lanes_layout(int rows, int statistics, Expr columns, Expr width, Expr blocks) {
  state_layout s;
  const Var x("x"), y("y");
  s.vars = {x, y};
  s.statistic_var = y;
  s.steps = Halide::RDom(0, width, 0, rows + statistics, 0, blocks, "step");
  const Halide::RVar rx = s.steps.x, ry = s.steps.y;
  s.block = s.steps.z;
  s.cell = {rx, ry};
  s.is_value = ry >= statistics;
  s.statistic = ry;
  s.lane_row = rx;
  s.row = Halide::clamp(rx, 0, rows - 1);
  s.value_row = Halide::clamp(ry - statistics, 0, rows - 1);
  s.column = Halide::clamp(rx, 0, columns - 1);
  s.statistic_at = [](int k, Expr row, Expr) { return coordinates{std::move(row), k}; };
  s.value_at = [=](Expr row, Expr column) {
    return coordinates{std::move(column), row + statistics};
  };
  return s;
}

state_layout threads_layout(int columns, int statistics, Expr blocks) {
  state_layout s;
  const Var x("x"), slice("slice"), y("y");
  s.vars = {x, slice, y};
  s.statistic_var = x;
  s.steps = Halide::RDom(0, columns + statistics, 0, blocks, "step");
  const Halide::RVar rx = s.steps.x;
  s.block = s.steps.y;
  s.cell = {rx, slice, y};
  s.is_value = rx >= statistics;
  s.statistic = rx;
  s.lane_row = s.row = s.value_row = y;
  // the owner's slice stays a variable: a quotient of a clamped column would hide whose cell it is
  s.column = slice * columns + Halide::clamp(rx - statistics, 0, columns - 1);
  s.statistic_at = [=](int k, Expr row, Expr column) {
    return coordinates{k, column.same_as(s.column) ? Expr(slice) : column / columns,
                       std::move(row)};
  };
  s.value_at = [=](Expr row, Expr column) {
    return coordinates{column % columns + statistics, column / columns, std::move(row)};
  };
  return s;
}

}  // namespace qkv::codegen
