// SPDX-License-Identifier: BSL-1.0
#pragma once
// Conditions of a whole loop body, whatever they read: Halide computes what a body needs before it
// tests a condition that reads memory of the kernel.
#include <Halide.h>

namespace qkv::codegen {

// Marks a condition of an update. Where it does not hold, nothing that the update needs is
// computed.
Halide::Expr of_whole_body(const Halide::Expr &condition);

// This lowering pass takes marked conditions out to the first loop that has all their operands.
//
//   for b: { scores = ..; for y: if (of_whole_body(c[b])) state[y] += scores[y] }
//     -> for b: if (c[b]) { scores = ..; for y: state[y] += scores[y] }
class skip_bodies : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
  Halide::Expr visit(const Halide::Internal::Call *op) override;
};

}  // namespace qkv::codegen
