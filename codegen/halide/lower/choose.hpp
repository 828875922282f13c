// SPDX-License-Identifier: BSL-1.0
#pragma once
// A choice between numbers or between booleans.
#include <Halide.h>

namespace qkv::codegen {

// select(), also for conditions: when Halide 21 trims a loop to the positions at which a condition
// may hold, it takes a select() of booleans for its last operand.
inline Halide::Expr choose(const Halide::Expr &condition, const Halide::Expr &a,
                           const Halide::Expr &b) {
  return a.type().is_bool() ? (condition && a) || (!condition && b)
                            : Halide::select(condition, a, b);
}

}  // namespace qkv::codegen
