// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/pair_results.hpp"

#include <stdexcept>

#include "codegen/halide/lower/pair_stores.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

// Memory of the result before the walk. Pairs that masks hide may be in blocks that are skipped.
Expr initial(const attention_form &a, const weighted_sum &sum, const Expr &is_empty) {
  if (a.hidden.in(sum)) return a.number(0);
  const Expr nothing = Halide::undef(a.type);
  return Halide::Internal::is_const_zero(is_empty) ? nothing
                                                   : Halide::select(is_empty, a.number(0), nothing);
}

}  // namespace

Expr storing_result(attention_form &a, const weighted_sum &sum, const Expr &pair,
                    const Expr &number) {
  if (a.p[sum.root].kind != op::output)
    throw std::logic_error(a.p.name + ": a result at each pair is not a result of the call");
  Expr is_first = Halide::Internal::const_true(), is_empty = Halide::Internal::const_false();
  if (a.p[sum.core].kind == op::sum)
    for (const axis_id x : a.p[sum.core].over) {
      is_first = is_first && a.c.var(x) == 0;
      is_empty = is_empty || a.c.size(x) == 0;
    }
  if (a.hidden.in(sum)) is_first = Halide::Internal::const_false();  // it is 0 before
  std::vector<Var> vars;
  std::vector<Expr> here;
  const Expr row = a.f.v.tile * a.f.tile.rows + a.f.v.i,
             key = a.f.v.block * a.f.tile.keys + a.f.v.j;
  const std::vector<axis_id> &order = a.c.order(sum.root);
  for (std::size_t d = order.size(); d-- > 0;) {
    const axis_id x = order[d];
    vars.push_back(a.c.var(x));
    const Expr at = x == a.s.row ? row : key;
    here.push_back(x == a.s.row || x == a.s.key
                       ? Halide::unsafe_promise_clamped(at, 0, a.c.extent(x) - 1)
                       : Expr(vars.back()));
  }
  Func result("at_pairs_" + context::label(a.p, sum.root));
  result(vars) = initial(a, sum, Halide::Internal::simplify(is_empty));
  a.c.store(sum.root, result, order);
  a.f.result.at_pairs.push_back(result);
  // Keys are computed in groups, the last of which may reach into the next block.
  const Expr is_there = a.is_row(a.f.v.i) && a.inside(a.f.v.j) && a.f.v.j < a.f.tile.keys;
  return storing(pair, number, result(here), is_there, is_first);
}

}  // namespace qkv::codegen
