// SPDX-License-Identifier: BSL-1.0
#pragma once
// Vector loads of widths that OpenCL lacks.
#include <Halide.h>

namespace qkv::codegen {

// Halide 21 loads a vector with a small stride as one dense vector, from which it then picks the
// elements. With a stride of 3, that is a vector of 12, a type that OpenCL C does not have. This
// lowering pass loads the elements alone again.
//
//   slice(x[ramp(i, 1, 12)], 1, 3, 4)  ->  x[ramp(i + 1, 3, 4)]
class narrow_loads : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Shuffle *op) override;
};

}  // namespace qkv::codegen
