// SPDX-License-Identifier: BSL-1.0
#pragma once
// A step's value at a position as one Halide expression: steps that are not stored are recomputed
// in place.
#include <Halide.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "codegen/halide/lower/choose.hpp"
#include "codegen/halide/lower/context.hpp"

namespace qkv::codegen {

// A number with its state. `present` is false where mask() removed the position; undefined means
// always present. `empty` is true where softmax or normalize put 0 for a removed score; undefined
// means never.
struct value {
  Halide::Expr number;
  Halide::Expr present;
  Halide::Expr empty = {};
};

class expression {
 public:
  // Called first at every step: a stage returns the values of steps that it computes itself.
  using hook = std::function<std::optional<value>(node_id, const indices &)>;

  explicit expression(const context &c, hook own = {}) : c_(c), own_(std::move(own)) {}

  // f32, f64, i32 or boolean, after the type of the step.
  value at(node_id, const indices &);

  // The same for a step that is about to be stored: computed, not read.
  value definition(node_id, const indices &);

 private:
  value compute(node_id, const indices &);
  Halide::Expr emptiness(node_id, const indices &, const Halide::Expr &number);
  value apply(node_id, const indices &);
  value pointwise(node_id, const indices &);
  bool is_argument(node_id) const;
  value taken(const node &, const indices &);
  value joined(const node &, const indices &);
  value position_of(const node &take, const indices &);
  indices taken_from(const node &, const indices &);  // where take() reads its table
  struct joint {  // the operand that concat() reads, and the positions in both
    Halide::Expr in_first;
    indices first, second;
  };
  joint joint_at(const node &, const indices &) const;
  indices through_view(const node &, const indices &) const;

  const context &c_;
  hook own_;
  bool for_positions_ = false;
  std::unique_ptr<expression> positions_;  // computes positions for take(); created on first use
  std::map<std::pair<node_id, std::vector<const void *>>, value> seen_;
  std::vector<Halide::Expr> alive_;  // keeps the expressions whose addresses are keys of seen_
};

Halide::Expr both(Halide::Expr a, Halide::Expr b);  // a && b where undefined means true
// True if products with this value count: it is present and not an empty weight. Undefined: always.
Halide::Expr counts(const value &);
// The product in this type, as a term of a sum; absent if one of the factors does not count.
value product(const value &, const value &, Halide::Type);
Halide::Expr or_else(const value &,
                     Halide::Expr when_absent);  // select(present, number, when_absent)

// The value as it is stored: b8 as a byte; -inf (or 0) if absent.
Halide::Expr stored_form(const value &, dtype);

}  // namespace qkv::codegen
