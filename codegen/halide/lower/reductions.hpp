// SPDX-License-Identifier: BSL-1.0
#pragma once
// Sums, extremes, means and weights as folds over their axes. The stage decides how a fold runs.
#include <functional>
#include <string>

#include "codegen/halide/lower/expression.hpp"

namespace qkv::codegen {

using combine = std::function<Halide::Expr(Halide::Expr, Halide::Expr)>;

// One number per position of the axes that remain.
struct fold {
  std::string what;       // "max", "total": a step may need several
  Halide::Expr identity;  // for an empty fold
  combine with;
  std::function<value(const indices &)> of;  // an element; absent ones are left out
  bool rounds = false;                       // each step may lose a last place
};

class reductions {
 public:
  using runner = std::function<Halide::Expr(const node &, const fold &)>;
  using reader = std::function<value(node_id, const indices &)>;  // of operands

  reductions(const context &c, reader read, runner run)
      : c_(c), read_(std::move(read)), run_(std::move(run)) {}

  // The value of a reduction, softmax, normalisation or contraction at a position.
  value at(const node &, const indices &here) const;

  // In the type that the reduction computes in: f32 or f64, or i32 for sums and extremes of whole
  // numbers.
  value operand(const node &, const indices &) const;

  static Halide::Expr zero_of(const node &);

  // m + log(l), where l sums exp(x - m) and m is the maximum: -inf without elements, inf if one of
  // them is inf, although l is NaN then.
  static Halide::Expr logsumexp(const Halide::Expr &m, const Halide::Expr &l);

 private:
  Halide::Expr sum_of(const node &, const std::string &what,
                      const std::function<value(const indices &)> &) const;
  Halide::Expr maximum(const node &) const;
  Halide::Expr total(const node &, const Halide::Expr &m) const;
  Halide::Expr count_of(const node &) const;

  const context &c_;
  reader read_;
  runner run_;
};

}  // namespace qkv::codegen
