// SPDX-License-Identifier: BSL-1.0
#pragma once
// A sum or a maximum whose terms are spread over the lanes of vectors.
#include <Halide.h>

#include <functional>
#include <string>
#include <vector>

namespace qkv::codegen {

struct lane_fold {
  Halide::Func of_lane;  // (lane, cell...): what each lane has gathered
  std::vector<Halide::Func>
      halves;          // (lane, cell...): each has half as many lanes as the one before
  Halide::Func whole;  // (cell...)
};

// Defines `halves` and `whole`, which folds all lanes of `of_lane`. Halves are folded with each
// other, so that operations are on vectors down to the last four lanes: compilers fold lanes one
// after the other.
void fold_lanes(lane_fold &, const std::string &name, int lanes, const Halide::Var &lane,
                const std::vector<Halide::Expr> &cell,
                const std::function<Halide::Expr(Halide::Expr, Halide::Expr)> &combined);

}  // namespace qkv::codegen
