// SPDX-License-Identifier: BSL-1.0
#pragma once
// Helpers for Halide's bounds inference: reads of memory, and conditions on positions that it must
// not solve.
#include <Halide.h>
#include <map>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// True if the value depends on a tensor or another Func.
bool reads_memory(const Halide::Expr &);

// The same position in a form that bounds inference does not solve for.
Halide::Expr opaque(const Halide::Expr &position);

// Both operands of a comparison of i32 in a form that Halide solves for a position without leaving
// i32. Sums, products and quotients become opaque: no term changes sides, as in a < b + c for
// a - b < c. Beside a position alone, the other operand is clamped to the positions that exist, and
// one more at both ends: Halide adds to it as much as a vector has elements.
void guard_comparison(Halide::Expr &a, Halide::Expr &b);

// The same value with opaque conditions. Where a condition on positions decides whether another
// Func is read, bounds inference would shrink the region that each tile requires of that Func to
// where the condition can hold:
//   select(column < row, sum(column, row), 1)     requires rows column + 1 .. last
// A tile of sums in registers has one extent; where no row is left, it would lie outside that
// region.
Halide::Expr unsolved(const Halide::Expr &);

// The same, opaque in these positions alone. A tile has one position along each outer axis:
//   select(batch > key, product(row, key, batch), 0)     requires batches key + 1 .. batch
// That range is empty for most keys, and all of them together need batches other than the tile's.
// `positions`: variables.
Halide::Expr unsolved(const Halide::Expr &, const std::vector<Halide::Var> &positions);
Halide::Expr unsolved(const Halide::Expr &, const std::map<axis_id, Halide::Expr> &positions);

}  // namespace qkv::codegen
