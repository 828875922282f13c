// SPDX-License-Identifier: BSL-1.0
#pragma once
// Launches the loops over blocks of threads as one grid, however many there are.
#include <Halide.h>

#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

// Fuses a GPU block with the loops around it that the schedule marked parallel: one loop over
// blocks, in the first dimension of the grid, which is not limited to 65535. A block without
// threads becomes positions, one per thread.
//
//   parallel b: parallel h: gpu_block t: body
//     -> gpu_block n < B * H * T: b = n / T / H, h = n / T % H, t = n % T: body
//
// Halide's own fuse() works before bounds inference, which then does not see that the parts of
// three or more fused axes are single positions. This lowering pass runs after bounds inference.
class fuse_grids : public Halide::Internal::IRMutator {
 public:
  explicit fuse_grids(const gpu_tiles &m) : m_(m) {}

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;

  const gpu_tiles m_;
};

}  // namespace qkv::codegen
