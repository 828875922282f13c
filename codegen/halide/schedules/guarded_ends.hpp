// SPDX-License-Identifier: BSL-1.0
#pragma once
// The last vectors of rows in memory, read up to their last number.
#include <Halide.h>

#include <utility>
#include <vector>

#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

// The last vector of a tile of pairs reaches beyond the last key, that of a row beyond its last
// feature. Its index repeats the last one, so Halide would gather number by number. Where no result
// depends on the lanes beyond, this lowering pass leaves them 0, by one masked load: in tiles of
// pairs, and where a select() puts another number there.
//
//   pair_tile__bias[..] = bias[min(ramp(k, 1, 16), x16(last)) + x16(row)]
//     -> bias[ramp(k + row, 1, 16)] where ramp(k, 1, 16) <= x16(last)
//   select(ramp(64, 1, 16) < x16(72), V[min(ramp(64, 1, 16), x16(71)) + x16(row)], x16(0))
//     -> the same of V[ramp(64 + row, 1, 16)] where ramp(64, 1, 16) <= x16(71)
class guarded_ends : public Halide::Internal::IRMutator {
 public:
  explicit guarded_ends(const machine &m) : m_(m) {}

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Store *op) override;
  Halide::Expr visit(const Halide::Internal::Select *op) override;
  Halide::Expr visit(const Halide::Internal::Load *op) override;

  const machine &m_;
  bool in_pairs_ = false;
  // Each vector, and the number below which it is in the branch of a select() that is visited.
  std::vector<std::pair<Halide::Expr, Halide::Expr>> below_;
};

}  // namespace qkv::codegen
