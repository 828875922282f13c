// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/lane_fold.hpp"

namespace qkv::codegen {

using Halide::Expr;
using Halide::Func;

void fold_lanes(lane_fold &f, const std::string &name, int lanes, const Halide::Var &lane,
                const std::vector<Expr> &cell, const std::function<Expr(Expr, Expr)> &combined) {
  const auto at = [&](const Expr &of) {
    std::vector<Expr> all = {of};
    all.insert(all.end(), cell.begin(), cell.end());
    return all;
  };
  Func last = f.of_lane;
  for (; lanes > 4; lanes /= 2) {
    Func half(name + "_lanes" + std::to_string(lanes / 2));
    half(at(lane)) = combined(last(at(lane)), last(at(lane + lanes / 2)));
    f.halves.push_back(half);
    last = half;
  }
  f.whole = Func(name);
  const auto pair = [&](int k) { return combined(last(at(k)), last(at(k + lanes / 2))); };
  f.whole(cell) = lanes == 4 ? combined(pair(0), pair(1)) : pair(0);
}

}  // namespace qkv::codegen
