// SPDX-License-Identifier: BSL-1.0
#pragma once
// Squares that are transposed in registers.
#include <Halide.h>

namespace qkv::codegen {

// Rows that are read along memory and stored across it reach memory number by number. This lowering
// pass transposes squares of n rows of n lanes in registers: n log2(n) shuffles, n whole stores.
//
//   t[ramp(i, 32, 8)] = x[ramp(a, 1, 8)]; t[ramp(i + 1, 32, 8)] = x[ramp(b, 1, 8)]; .. (8 rows)
//     -> t[ramp(i, 1, 8)] = column 0; t[ramp(i + 32, 1, 8)] = column 1; .. (8 columns)
//
// Neighbours that stay neighbours, as two numbers of bf16, move as one.
class transposed_stores : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Block *op) override;
};

}  // namespace qkv::codegen
