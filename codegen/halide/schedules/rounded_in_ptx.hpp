// SPDX-License-Identifier: BSL-1.0
#pragma once
// Operations that round once each, in code for CUDA.
#include <Halide.h>

namespace qkv::codegen {

// Halide 21 lets LLVM fuse every multiplication with the addition behind it in PTX, also those that
// are strict: functions that compute what a rounding lost would be wrong. This lowering pass calls
// the instructions that are never fused.
//
//   strict_add(strict_mul(a, b), c) -> add.rn.f32(mul.rn.f32(a, b), c)
class rounded_in_ptx : public Halide::Internal::IRMutator {
  bool in_kernel_ = false;  // the pass sees the code that launches kernels, too

  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
  Halide::Expr visit(const Halide::Internal::Call *op) override;
};

}  // namespace qkv::codegen
