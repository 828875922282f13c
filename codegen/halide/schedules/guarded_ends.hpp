// SPDX-License-Identifier: BSL-1.0
#pragma once
// Tiles of pairs, read up to the last key.
#include <Halide.h>

namespace qkv::codegen {

// The last vector of a tile of pairs reaches beyond the last key. Its index repeats that key, so
// Halide would gather number by number. No stage reads the lanes beyond: this lowering pass leaves
// them 0, by one masked load.
//
//   pair_tile__bias[..] = bias[min(ramp(k, 1, 16), x16(last)) + x16(row)]
//     -> bias[ramp(k + row, 1, 16)] where ramp(k, 1, 16) <= x16(last)
class guarded_ends : public Halide::Internal::IRMutator {
 public:
  explicit guarded_ends(const Halide::Target &);

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Store *op) override;
  Halide::Expr visit(const Halide::Internal::Load *op) override;

  const Halide::Target target_;
  bool in_pairs_ = false;
};

// False where a masked load would be a branch for each lane.
bool has_masked_loads(const Halide::Target &, int bits);

}  // namespace qkv::codegen
