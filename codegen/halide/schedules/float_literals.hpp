// SPDX-License-Identifier: BSL-1.0
#pragma once
// Constants whose bits are written as an integer.
#include <Halide.h>

namespace qkv::codegen {

// OpenCL C takes -2147483648 for a long: as_float(-2147483648) does not compile. This lowering pass
// writes such a constant as the number with these bits.
//
//   reinterpret<float32>(-2147483648) -> -0.0f
class float_literals : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Reinterpret *op) override;
};

}  // namespace qkv::codegen
