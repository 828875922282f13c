// SPDX-License-Identifier: BSL-1.0
#pragma once
// Vectors of memory that begin at a fixed position: in reverse, or before the first element.
#include <Halide.h>

namespace qkv::codegen {

// Halide 21 derives which elements a vector may share with others from a fixed position. It fails
// where the vector begins before the first element (a partial one in reverse may; others do in code
// that is never reached), and is wrong for other vectors in reverse. This lowering pass names the
// position, which is then not fixed to Halide.
//
//   x[ramp(2, -1, 8)] if (ramp(0, 1, 8) < 3)
//     -> let first = 2 in x[ramp(first, -1, 8)] if (ramp(0, 1, 8) < 3)
class fixed_loads : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Load *op) override;
};

}  // namespace qkv::codegen
