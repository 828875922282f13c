// SPDX-License-Identifier: BSL-1.0
#pragma once
// Numbers of 16 bits that become neighbours as halves of 32 bits.
#include <Halide.h>

namespace qkv::codegen {

// Two vectors whose numbers are the low halves of 32 bits each would be shortened, then shuffled.
// This lowering pass joins them lane by lane, in two operations:
//
//   interleave(u16(a), u16(b))  ->  the bits of (a & 0xffff) | (b << 16)
class interleaved_halves : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Shuffle *op) override;
};

}  // namespace qkv::codegen
