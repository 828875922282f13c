#pragma once
// Float arithmetic that no compiler may rearrange, nor assume to be free of NaN: Halide's strict_float for expressions
// that share their parts. Halide's own walks every path to a part; nested functions have exponentially many.
#include <Halide.h>

namespace qkv::codegen::strict {

// One operation; its operands stay as they are.
Halide::Expr add(const Halide::Expr &, const Halide::Expr &);
Halide::Expr sub(const Halide::Expr &, const Halide::Expr &);

// Comparisons that NaN does not satisfy; of whole numbers too. What is compared is computed strictly throughout: an
// operation that is taken to give no NaN would let the compiler drop the comparison.
Halide::Expr less(const Halide::Expr &, const Halide::Expr &);
Halide::Expr less_equal(const Halide::Expr &, const Halide::Expr &);
Halide::Expr equal(const Halide::Expr &, const Halide::Expr &);

// The operand is computed strictly as well.
Halide::Expr is_nan(const Halide::Expr &);

}  // namespace qkv::codegen::strict
