// SPDX-License-Identifier: BSL-1.0
#pragma once
// Products of bf16 in matrix tiles (AMX).
#include <Halide.h>

#include <string>

namespace qkv::codegen {

// Loops over a tile of a product are marked by their names, the first the outermost:
//
//   for matrix_row: for matrix_column: for pair: for half:
//     c[i, j] += f32(a[i, 2 pair + half]) * f32(b[pair, j, half])
//
// This lowering pass makes them instructions for tiles of 16 x 16 sums and 16 x 32 numbers: rows,
// columns and pairs are multiples of 16. Sums are loaded before and stored after. Those whose
// columns are named `first_column` in place of `matrix_column` begin at zero, and loops named
// `matrix_zero`, which would set them, vanish.
class matrix_tiles : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
};

namespace matrix_loops {
inline const std::string row = "matrix_row", column = "matrix_column", first = "first_column",
                         zero = "matrix_zero";
}  // namespace matrix_loops

}  // namespace qkv::codegen
