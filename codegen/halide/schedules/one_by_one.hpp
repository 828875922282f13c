// SPDX-License-Identifier: BSL-1.0
#pragma once
// The statistics of a running state, each computed by itself.
#include <Halide.h>

namespace qkv::codegen {

// An update of one Func has one expression for all statistics of the state: Halide computes all of
// them for each, then selects. This lowering pass unrolls the loop over statistics, so that each
// computes its own.
//
//   for y < 4: state[y] = select(y == 0, exp(old - m), y == 1, exp(now - m), y == 2, m, ..)
//     -> state[0] = exp(old - m); state[1] = exp(now - m); state[2] = m; ..
class statistics_one_by_one : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
};

}  // namespace qkv::codegen
