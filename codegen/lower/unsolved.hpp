#pragma once
// Helpers for Halide's bounds inference: reads of memory, and conditions on positions that it must
// not solve.
#include <Halide.h>

namespace qkv::codegen {

// True if the value depends on a tensor or another Func.
bool reads_memory(const Halide::Expr &);

// The same position in a form that bounds inference does not solve for.
Halide::Expr opaque(const Halide::Expr &position);

// The same value, opaque if it is a sum, a product or a quotient: in a comparison, Halide moves terms
// to the other side, a < b + c in place of a - b < c.
Halide::Expr with_terms_together(const Halide::Expr &);

// The same value with opaque conditions. Where a condition on positions decides whether another
// Func is read, bounds inference would shrink the region that each tile requires of that Func to
// where the condition can hold:
//   select(column < row, sum(column, row), 1)     requires rows column + 1 .. last
// A tile of sums in registers has one extent; where no row is left, it would lie outside that
// region.
Halide::Expr unsolved(const Halide::Expr &);

}  // namespace qkv::codegen
