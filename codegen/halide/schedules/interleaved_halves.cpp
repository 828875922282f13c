// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/interleaved_halves.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;

namespace {

// The 32 bits whose low halves these are; undefined for anything else.
Expr whole_of(Expr e) {
  if (const auto *x = e.as<hi::Reinterpret>(); x && x->type.lanes() == x->value.type().lanes())
    e = x->value;
  const auto *x = e.as<hi::Cast>();
  const bool is_half = x && x->type.is_uint() && x->type.bits() == 16 &&
                       x->value.type().is_uint() && x->value.type().bits() == 32;
  return is_half ? x->value : Expr();
}

}  // namespace

Expr interleaved_halves::visit(const hi::Shuffle *op) {
  if (!op->is_interleave() || op->vectors.size() != 2 || op->type.bits() != 16)
    return IRMutator::visit(op);
  const Expr low = whole_of(op->vectors[0]), high = whole_of(op->vectors[1]);
  if (!low.defined() || !high.defined()) return IRMutator::visit(op);
  const Expr half = hi::make_const(low.type(), 0xffff), up = hi::make_const(low.type(), 16);
  return hi::Reinterpret::make(op->type, (mutate(low) & half) | (mutate(high) << up));
}

}  // namespace qkv::codegen
