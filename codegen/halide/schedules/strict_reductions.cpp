// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/strict_reductions.hpp"

#include "codegen/halide/lower/strict.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;

namespace {

bool is_sum_of_lanes(const Expr &e) {
  const hi::VectorReduce *r = e.as<hi::VectorReduce>();
  return r && r->op == hi::VectorReduce::Add && r->type.is_float();
}

}  // namespace

Expr strict_reductions::visit(const hi::Add *op) {
  if (!is_sum_of_lanes(op->a) && !is_sum_of_lanes(op->b)) return IRMutator::visit(op);
  return strict::add(mutate(op->a), mutate(op->b));
}

Expr strict_reductions::visit(const hi::VectorReduce *op) {
  const int sums = op->type.lanes();
  int lanes = op->value.type().lanes();
  const bool halves = ((lanes / sums) & (lanes / sums - 1)) == 0;
  if (!is_sum_of_lanes(op) || !halves) return IRMutator::visit(op);
  Expr result = mutate(op->value);
  for (; lanes > sums; lanes /= 2) {
    const std::string name = hi::unique_name("lanes");
    const Expr all = hi::Variable::make(result.type(), name);
    result = hi::Let::make(name, result,
                           strict::add(hi::Shuffle::make_slice(all, 0, 2, lanes / 2),
                                       hi::Shuffle::make_slice(all, 1, 2, lanes / 2)));
  }
  return result;
}

}  // namespace qkv::codegen
