// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/strict_reductions.hpp"

#include <algorithm>

#include "codegen/halide/lower/strict.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;

namespace {

// True if the lanes are numbers of bf16 that were converted.
bool are_bf16(const Expr &e) {
  if (const auto *x = e.as<hi::Cast>()) return x->value.type().is_bfloat();
  if (const auto *x = e.as<hi::Broadcast>()) return are_bf16(x->value);
  const auto *x = e.as<hi::Shuffle>();
  return x && std::all_of(x->vectors.begin(), x->vectors.end(), are_bf16);
}

bool is_sum_of_two_products(const hi::VectorReduce &r) {
  const auto *product = r.value.as<hi::Mul>();
  return product && r.value.type().lanes() == 2 * r.type.lanes() && are_bf16(product->a) &&
         are_bf16(product->b);
}

}  // namespace

bool strict_reductions::is_sum_of_lanes(const Expr &e) const {
  const hi::VectorReduce *r = e.as<hi::VectorReduce>();
  return r && r->op == hi::VectorReduce::Add && r->type.is_float() &&
         !(multiplies_bf16_ && is_sum_of_two_products(*r));
}

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
