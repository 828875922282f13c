#pragma once
// Vectors of memory in reverse that begin at a fixed position.
#include <Halide.h>

namespace qkv::codegen {

// Halide 21 derives which elements a vector may share with others from a fixed position and a
// negative stride. It fails where the vector begins before the first element, as a partial one may,
// and is wrong elsewhere. This lowering pass names the position, which is then not fixed to Halide.
//
//   x[ramp(2, -1, 8)] if (ramp(0, 1, 8) < 3)
//     -> let first = 2 in x[ramp(first, -1, 8)] if (ramp(0, 1, 8) < 3)
class reversed_loads : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Load *op) override;
};

}  // namespace qkv::codegen
