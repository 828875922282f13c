// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/attention_placed.hpp"

#include "codegen/machines/machine.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;

constexpr int lanes = rows_of_partials;

class placed_lowering {
 public:
  placed_lowering(attention_form &a, const weighted_sum &sum, attention_placed &o)
      : a_(a), o_(o), vectors_(a.f.tile.rows / lanes), name_(context::label(a.p, sum.core)) {}

  void run() {
    compare();
    o_.of_tile = Func("placed_" + name_);
    o_.of_tile(place(a_.f.v.c)) = a_.number(0);
    neighbours();
    same();
    others();
  }

 private:
  std::vector<Expr> place(const Expr &at) const { return a_.tiles.in_tile({at}); }
  std::vector<Expr> of_vector(const Expr &v, const Expr &j) const { return a_.tiles.pair(v, j); }
  Expr position(const Expr &row, const Expr &j) const {
    return o_.positions(a_.tiles.pair(row, j));
  }
  // Rows past the end repeat the last one.
  Expr pair(const Expr &row, const Expr &j) const {
    return a_.kept(Halide::select(a_.is_row(row), o_.pairs(a_.tiles.pair(row, j)), a_.number(0)));
  }

  void compare() {
    o_.lanes = RDom(0, lanes, "lane_of_vector");
    const Expr lane = o_.lanes.x, j = a_.f.v.j, first = o_.vector * lanes;
    const std::vector<Expr> here = of_vector(o_.vector, j);
    const Expr own = position(first + lane, j), of_first = position(first, j);
    const auto count = [&](Func &g, const std::string &what, const Expr &differs) {
      g = Func(what + "_" + name_);
      g(here) = 0;
      g(here) += Halide::cast<int>(differs);
    };
    count(o_.breaks, "breaks", own != of_first + lane);
    count(o_.changes, "changes", own != of_first);
    o_.totals = Func("totals_" + name_);
    o_.totals(here) = a_.number(0);
    o_.totals(here) += pair(first + lane, j);
  }

  // Adds a number at the position of a row, and behind it.
  void add(const Expr &row, const Expr &j, const Expr &behind, const Expr &number) {
    const Expr to = Halide::unsafe_promise_clamped(position(row, j) + behind, 0, o_.size - 1);
    o_.of_tile(place(to)) = o_.of_tile(place(to)) + number;
  }

  void neighbours() {
    RDom r(0, lanes, 0, vectors_, 0, a_.f.tile.keys, "of_neighbours");
    a_.block.limit(r, r.z);
    const Expr j = a_.block.trimmed(Expr(r.z));
    r.where(o_.breaks(of_vector(r.y, j)) == 0);
    o_.neighbours = r;
    add(r.y * lanes, j, r.x, pair(r.y * lanes + r.x, j));
  }

  void same() {
    RDom r(0, vectors_, 0, a_.f.tile.keys, "of_same");
    a_.block.limit(r, r.y);
    const Expr j = a_.block.trimmed(Expr(r.y));
    r.where(o_.changes(of_vector(r.x, j)) == 0);
    o_.same = r;
    add(r.x * lanes, j, 0, o_.totals(of_vector(r.x, j)));
  }

  void others() {
    RDom r(0, lanes, 0, vectors_, 0, a_.f.tile.keys, "of_others");
    a_.block.limit(r, r.z);
    const Expr j = a_.block.trimmed(Expr(r.z));
    r.where(o_.breaks(of_vector(r.y, j)) != 0);
    r.where(o_.changes(of_vector(r.y, j)) != 0);
    o_.others = r;
    add(r.y * lanes + r.x, j, 0, pair(r.y * lanes + r.x, j));
  }

  attention_form &a_;
  attention_placed &o_;
  const int vectors_;  // of rows of a tile
  const std::string name_;
};

}  // namespace

void lower_placed(attention_form &a) {
  for (std::size_t k = 0; k < a.s.placed.size(); ++k)
    placed_lowering(a, a.s.placed[k], a.f.placed[k]).run();
}

}  // namespace qkv::codegen
