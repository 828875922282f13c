#pragma once
// What Halide's bounds inference sees of values: memory that they read, conditions on positions that it must not solve.
#include <Halide.h>

namespace qkv::codegen {

// Whether a value is made of what a tensor or another Func holds.
bool reads_memory(const Halide::Expr &);

// The same position, in a form that bounds inference does not solve for.
Halide::Expr opaque(const Halide::Expr &position);

// The same value. Where a choice by position decides whether another Func is read, bounds inference would shrink what it
// asks of that Func to where the condition can hold, tile by tile:
//   select(column < row, sum(column, row), 1)     asks for rows column + 1 .. last
// A tile of sums in registers has one extent, and where no row is left it would lie outside of it.
Halide::Expr unsolved(const Halide::Expr &);

}  // namespace qkv::codegen
