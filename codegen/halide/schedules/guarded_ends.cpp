// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/guarded_ends.hpp"

#include <algorithm>
#include <utility>

#include "codegen/halide/lower/attention_funcs.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;

namespace {

using Halide::Expr;

// min(ramp, last), a vector that memory has in a row.
const hi::Min *as_clamp(const Expr &e) {
  const auto *min = e.as<hi::Min>();
  const auto *to = min ? min->a.as<hi::Ramp>() : nullptr;
  return to && hi::is_const_one(to->stride) && min->b.as<hi::Broadcast>() ? min : nullptr;
}

// The clamp of an index, and the broadcast that is added to it (undefined without one).
std::pair<const hi::Min *, Expr> clamp_of(const Expr &index) {
  if (const auto *min = as_clamp(index)) return {min, Expr()};
  const auto *sum = index.as<hi::Add>();
  if (!sum) return {};
  for (const auto &[clamp, rest] : {std::pair(sum->a, sum->b), std::pair(sum->b, sum->a)})
    if (as_clamp(clamp) && rest.as<hi::Broadcast>()) return {as_clamp(clamp), rest};
  return {};
}

}  // namespace

hi::Stmt guarded_ends::visit(const hi::Store *op) {
  in_pairs_ = hi::starts_with(op->name, pair_tile_prefix);
  hi::Stmt made = IRMutator::visit(op);
  in_pairs_ = false;
  return made;
}

Expr guarded_ends::visit(const hi::Select *op) {
  const auto *less = op->condition.as<hi::LT>();
  if (!less) return IRMutator::visit(op);
  const Expr no = mutate(op->false_value);
  below_.emplace_back(less->a, less->b);
  const Expr yes = mutate(op->true_value);
  below_.pop_back();
  return hi::Select::make(op->condition, yes, no);
}

Expr guarded_ends::visit(const hi::Load *op) {
  const auto [clamp, rest] = clamp_of(op->index);
  const auto holds_all = [&, &clamp = clamp](const auto &below) {
    return hi::equal(below.first, clamp->a) &&
           hi::is_const_one(hi::simplify(below.second == clamp->b + 1));
  };
  const bool are_unread =
      clamp && (in_pairs_ || std::any_of(below_.begin(), below_.end(), holds_all));
  if (!are_unread || !m_.has_masked_loads(op->type.bits()) || !hi::is_const_one(op->predicate))
    return IRMutator::visit(op);
  const auto *to = clamp->a.as<hi::Ramp>();
  const Expr first = rest.defined() ? to->base + rest.as<hi::Broadcast>()->value : to->base;
  return hi::Load::make(op->type, op->name, hi::Ramp::make(first, 1, to->lanes), op->image,
                        op->param, clamp->a <= clamp->b, hi::ModulusRemainder());
}

}  // namespace qkv::codegen
