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
      halves;  // (lane, cell...): each has half as many lanes as the one before
  // (lane, cell without the key...): the lanes of neighbouring keys, side by side. Undefined where
  // each cell is folded by itself.
  Halide::Func side_by_side;
  int lanes = 0;       // of each key there
  Halide::RDom over;   // these lanes
  Halide::Func whole;  // (cell...)
};

// Defines `halves` and `whole`, which folds all lanes of `of_lane`. Halves are folded with each
// other, so that operations are on vectors down to the last four lanes: compilers fold lanes one
// after the other.
void fold_lanes(lane_fold &, const std::string &name, int lanes, const Halide::Var &lane,
                const std::vector<Halide::Expr> &cell,
                const std::function<Halide::Expr(Halide::Expr, Halide::Expr)> &combined);

// A sum over lanes for the cells of many keys at once, cell[key], from `vector` lanes on: shuffles
// of whole vectors, of which folding each key by itself needs four times as many.
void add_lanes_of_keys(lane_fold &, const std::string &name, int lanes, int vector,
                       const Halide::Var &lane, const std::vector<Halide::Expr> &cell,
                       std::size_t key);

}  // namespace qkv::codegen
