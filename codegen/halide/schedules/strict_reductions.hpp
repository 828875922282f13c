// SPDX-License-Identifier: BSL-1.0
#pragma once
// Sums over the lanes of a vector by strict additions. Halide's own let LLVM assume that no number
// is NaN: a NaN among the lanes, times 0, would be 0.
#include <Halide.h>

namespace qkv::codegen {

// This lowering pass halves a vector until the sums are left, in one order for each lane:
//   vector_reduce_add(v) + x  ->  strict_add(strict_add(even lanes of v, odd lanes of v), x)
class strict_reductions : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Add *op) override;
  Halide::Expr visit(const Halide::Internal::VectorReduce *op) override;
};

}  // namespace qkv::codegen
