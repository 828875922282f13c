#pragma once
// Keeps Halide's bounds inference from solving conditions on positions.
#include <Halide.h>

namespace qkv::codegen {

// The same position, in a form that bounds inference does not solve for.
Halide::Expr opaque(const Halide::Expr &position);

// The same value. Where a choice by position decides whether another Func is read, bounds inference would shrink what it
// asks of that Func to where the condition can hold, tile by tile:
//   select(column < row, sum(column, row), 1)     asks for rows column + 1 .. last
// A tile of sums in registers has one extent, and where no row is left it would lie outside of it.
Halide::Expr unsolved(const Halide::Expr &);

}  // namespace qkv::codegen
