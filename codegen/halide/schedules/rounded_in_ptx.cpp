// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/rounded_in_ptx.hpp"

#include <string>
#include <vector>

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;
using Halide::Type;

namespace {

// Flips the sign bit, so nothing is rounded.
Expr negated(const Expr &x) {
  const Type bits = Halide::UInt(32, x.type().lanes());
  return hi::Reinterpret::make(
      x.type(), hi::Reinterpret::make(bits, x) ^ hi::make_const(bits, std::uint64_t{0x80000000}));
}

}  // namespace

hi::Stmt rounded_in_ptx::visit(const hi::For *op) {
  const hi::ScopedValue<bool> inside(in_kernel_, in_kernel_ || hi::is_gpu(op->for_type));
  return IRMutator::visit(op);
}

Expr rounded_in_ptx::visit(const hi::Call *op) {
  const bool add = op->is_intrinsic(hi::Call::strict_add),
             sub = op->is_intrinsic(hi::Call::strict_sub),
             mul = op->is_intrinsic(hi::Call::strict_mul);
  if (!in_kernel_ || !(add || sub || mul) || op->type.element_of() != Halide::Float(32))
    return IRMutator::visit(op);
  const Expr a = mutate(op->args[0]), b = sub ? negated(mutate(op->args[1])) : mutate(op->args[1]);
  const auto rounded = [&](const Expr &x, const Expr &y) {
    return hi::Call::make(Halide::Float(32), mul ? "llvm.nvvm.mul.rn.f" : "llvm.nvvm.add.rn.f",
                          {x, y}, hi::Call::PureExtern);
  };
  if (op->type.is_scalar()) return rounded(a, b);
  // The instructions take one lane.
  const std::string x = hi::unique_name('x'), y = hi::unique_name('y');
  std::vector<Expr> lanes;
  for (int i = 0; i < op->type.lanes(); ++i) {
    const auto lane = [&](const std::string &name) {
      return hi::Shuffle::make_extract_element(hi::Variable::make(op->type, name), i);
    };
    lanes.push_back(rounded(lane(x), lane(y)));
  }
  return hi::Let::make(x, a, hi::Let::make(y, b, hi::Shuffle::make_concat(lanes)));
}

}  // namespace qkv::codegen
