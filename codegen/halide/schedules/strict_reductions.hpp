// SPDX-License-Identifier: BSL-1.0
#pragma once
// Sums over the lanes of a vector by strict additions. Halide's own let LLVM assume that no number
// is NaN: a NaN among the lanes, times 0, would be 0.
#include <Halide.h>

namespace qkv::codegen {

// This lowering pass halves a vector until the sums are left, in one order for each lane:
//   vector_reduce_add(v) + x  ->  strict_add(strict_add(even lanes of v, odd lanes of v), x)
//
// On targets that multiply bf16, sums of two such products are one instruction, which keeps NaN.
class strict_reductions : public Halide::Internal::IRMutator {
 public:
  explicit strict_reductions(bool multiplies_bf16) : multiplies_bf16_(multiplies_bf16) {}

 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Add *op) override;
  Halide::Expr visit(const Halide::Internal::VectorReduce *op) override;
  bool is_sum_of_lanes(const Halide::Expr &) const;
  const bool multiplies_bf16_;
};

}  // namespace qkv::codegen
