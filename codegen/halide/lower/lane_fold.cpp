// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/lane_fold.hpp"

#include "codegen/halide/lower/strict.hpp"

namespace qkv::codegen {

using Halide::Expr;
using Halide::Func;

namespace {

std::vector<Expr> with_first(const Expr &first, const std::vector<Expr> &cell) {
  std::vector<Expr> all = {first};
  all.insert(all.end(), cell.begin(), cell.end());
  return all;
}

// Down to so many lanes of each cell; returns the last Func.
Func halved(lane_fold &f, const std::string &name, int &lanes, int least, const Halide::Var &lane,
            const std::vector<Expr> &cell, const std::function<Expr(Expr, Expr)> &combined) {
  Func last = f.of_lane;
  for (; lanes > least; lanes /= 2) {
    Func half(name + "_lanes" + std::to_string(lanes / 2));
    half(with_first(lane, cell)) =
        combined(last(with_first(lane, cell)), last(with_first(lane + lanes / 2, cell)));
    f.halves.push_back(half);
    last = half;
  }
  return last;
}

}  // namespace

void fold_lanes(lane_fold &f, const std::string &name, int lanes, const Halide::Var &lane,
                const std::vector<Expr> &cell, const std::function<Expr(Expr, Expr)> &combined) {
  const Func last = halved(f, name, lanes, 4, lane, cell, combined);
  f.whole = Func(name);
  const auto pair = [&](int k) {
    return combined(last(with_first(k, cell)), last(with_first(k + lanes / 2, cell)));
  };
  f.whole(cell) = lanes == 4 ? combined(pair(0), pair(1)) : pair(0);
}

void add_lanes_of_keys(lane_fold &f, const std::string &name, int lanes, int vector,
                       const Halide::Var &lane, const std::vector<Expr> &cell, std::size_t key) {
  // Strict: compilers that rearrange additions would do so for each row of a tile in its own way.
  const Func of_keys = halved(f, name, lanes, vector, lane, cell, strict::add);
  f.lanes = lanes;
  std::vector<Expr> rest = cell, there = cell;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(key));
  there[key] = lane / lanes;
  f.side_by_side = Func(name + "_side_by_side");
  f.side_by_side(with_first(lane, rest)) = of_keys(with_first(lane % lanes, there));
  f.over = Halide::RDom(0, lanes, "lane");
  f.whole = Func(name);
  f.whole(cell) = Halide::cast(f.side_by_side.type(), 0);
  f.whole(cell) += f.side_by_side(with_first(cell[key] * lanes + f.over, rest));
}

}  // namespace qkv::codegen
