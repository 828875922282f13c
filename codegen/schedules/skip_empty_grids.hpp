#pragma once
// A driver refuses to launch zero blocks; a kernel whose sizes are 0 has nothing to launch. This lowering pass puts the
// test in front of each launch.
#include <Halide.h>

#include <string>

namespace qkv::codegen {

class skip_empty_grids : public Halide::Internal::IRMutator {
  using IRMutator::visit;

 protected:
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override {
    namespace hi = Halide::Internal;
    if (op->for_type != hi::ForType::GPUBlock) return IRMutator::visit(op);
    Halide::Expr some = hi::const_true();
    const hi::For *grid = op;  // blocks nest without anything in between
    for (; grid && grid->for_type == hi::ForType::GPUBlock; grid = grid->body.as<hi::For>())
      some = some && grid->extent > 0;
    some = hi::simplify(some);
    return hi::is_const_one(some) ? hi::Stmt(op) : hi::IfThenElse::make(some, op);
  }
};

}  // namespace qkv::codegen
