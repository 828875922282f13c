// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/guarded_ends.hpp"

#include <utility>

#include "codegen/halide/lower/attention_funcs.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;

namespace {

using Halide::Expr;
using Halide::Target;

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

bool has_masked_loads(const Target &t, int bits) {
  return t.has_feature(bits < 32 ? Target::AVX512_Skylake : Target::AVX2);
}

guarded_ends::guarded_ends(const Target &t) : target_(t) {}

hi::Stmt guarded_ends::visit(const hi::Store *op) {
  in_pairs_ = hi::starts_with(op->name, pair_tile_prefix);
  hi::Stmt made = IRMutator::visit(op);
  in_pairs_ = false;
  return made;
}

Expr guarded_ends::visit(const hi::Load *op) {
  const auto [clamp, rest] = clamp_of(op->index);
  if (!in_pairs_ || !clamp || !has_masked_loads(target_, op->type.bits()) ||
      !hi::is_const_one(op->predicate))
    return IRMutator::visit(op);
  const auto *to = clamp->a.as<hi::Ramp>();
  const Expr first = rest.defined() ? to->base + rest.as<hi::Broadcast>()->value : to->base;
  return hi::Load::make(op->type, op->name, hi::Ramp::make(first, 1, to->lanes), op->image,
                        op->param, clamp->a <= clamp->b, hi::ModulusRemainder());
}

}  // namespace qkv::codegen
