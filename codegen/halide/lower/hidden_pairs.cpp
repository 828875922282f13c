// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/hidden_pairs.hpp"

#include <algorithm>

namespace qkv::codegen {

using Halide::Expr;

namespace {

const std::string unknown = "product_of_pair";

}  // namespace

hidden_pairs::hidden_pairs(const attention_setting &a) : a_(a) {
  by_products_ = std::any_of(a.s.sums.begin(), a.s.sums.end(), [&](const weighted_sum &sum) {
    const Expr key = a.f.v.j;
    return in(sum) &&
           uses_product(a.s.is_normalised() ? weight_counts(key) : pair_counts(sum, key));
  });
}

bool hidden_pairs::in_weights() const { return a_.s.is_normalised() && a_.c.has_gaps[a_.s.scores]; }

bool hidden_pairs::in(const weighted_sum &sum) const {
  if (!a_.s.is_normalised()) return a_.c.has_gaps[sum.pairs];
  return in_weights() || (sum.gate != no_step && a_.c.has_gaps[sum.gate]);
}

bool hidden_pairs::run_past_the_end(const weighted_sum &sum) const {
  return a_.on_threads() && !in(sum);
}

value hidden_pairs::without_products(node_id n, const Expr &key) const {
  indices at = a_.outer;
  at.merge(a_.tiles.row(a_.f.v.i, a_.f.v.tile));
  at[a_.s.key] = a_.tiles.key(key, a_.f.v.block);
  const std::vector<node_id> &products = a_.s.products;
  expression e(a_.c, [&](node_id x, const indices &) -> std::optional<value> {
    if (std::find(products.begin(), products.end(), x) == products.end()) return std::nullopt;
    return value{Halide::Internal::Variable::make(halide_type(a_.p[x].type), unknown), {}};
  });
  return e.at(n, at);
}

// An empty weight counts as a score: softmax turns it into a number.
Expr hidden_pairs::weight_counts(const Expr &key) const {
  return without_products(a_.s.scores, key).present;
}

Expr hidden_pairs::pair_counts(const weighted_sum &sum, const Expr &key) const {
  if (!a_.s.is_normalised()) return counts(without_products(sum.pairs, key));
  const Expr count = weight_counts(key);
  return sum.gate == no_step ? count : both(count, counts(without_products(sum.gate, key)));
}

bool hidden_pairs::uses_product(const Expr &count) {
  return count.defined() && Halide::Internal::expr_uses_var(count, unknown);
}

Expr hidden_pairs::bits_of(const Expr &x) const {
  return Halide::reinterpret(Halide::Int(a_.type.bits()), x);
}
Expr hidden_pairs::minus_zero() const { return bits_of(a_.number(0)).type().min(); }
Expr hidden_pairs::is_mark(const Expr &pair) const { return bits_of(pair) == minus_zero(); }

Expr hidden_pairs::marked(const Expr &pair, const Expr &count) const {
  if (!count.defined()) return pair;
  const Expr zero = Halide::Internal::make_zero(minus_zero().type());
  return Halide::reinterpret(
      a_.type,
      Halide::select(count, Halide::select(is_mark(pair), zero, bits_of(pair)), minus_zero()));
}

}  // namespace qkv::codegen
