#pragma once
// One launch for the loops that enumerate blocks of threads, however many there are.
#include <Halide.h>

namespace qkv::codegen {

// Loops around a GPU block that the schedule marked parallel become one loop over blocks together with the block's own, in
// the first dimension of the grid, which is not limited to 65535. A block without threads becomes positions, one for each
// thread.
//
//   parallel b: parallel h: gpu_block t: body   ->  gpu_block n < B * H * T: b = n / T / H, h = n / T % H, t = n % T: body
//
// Halide's own fuse() would do so before bounds are inferred: of three axes and more, the parts are then no longer single
// positions. This lowering pass runs after that.
class fuse_grids : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
};

}  // namespace qkv::codegen
