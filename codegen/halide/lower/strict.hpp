// SPDX-License-Identifier: BSL-1.0
#pragma once
// Float arithmetic that no compiler may rearrange, nor assume to be free of NaN: Halide's
// strict_float for expressions that share their parts. Halide's own visits a part once for each
// path to it; nested functions have exponentially many paths.
#include <Halide.h>

namespace qkv::codegen::strict {

// One operation whose operands stay as they are; also for integers.
Halide::Expr add(const Halide::Expr &, const Halide::Expr &);
Halide::Expr sub(const Halide::Expr &, const Halide::Expr &);
Halide::Expr mul(const Halide::Expr &, const Halide::Expr &);
Halide::Expr div(const Halide::Expr &, const Halide::Expr &);
Halide::Expr neg(const Halide::Expr &);  // -0 of 0

// True if a product with this factor must be strict: an infinite literal takes part, a choice
// between two literals, or a choice of the call between a literal and another number. Where a
// compiler sees that the factor is 0, it drops the product, although the other factor is NaN.
bool is_delicate(const Halide::Expr &);
// The same value, opaque where it is 0 for all real numbers, as x - x is. Halide drops a sum to
// which such terms are added, but of an infinity they are NaN.
Halide::Expr hide_zero(const Halide::Expr &);
// a + b and a * b for sums of products. Compilers may rearrange them unless an infinite literal
// takes part, or a factor is delicate: they assume that such arithmetic meets no infinity and no
// NaN.
Halide::Expr plus(const Halide::Expr &, const Halide::Expr &);
Halide::Expr times(const Halide::Expr &, const Halide::Expr &);

// Comparisons that NaN does not satisfy; of whole numbers too. The operands are computed strictly
// throughout: an operation assumed to give no NaN would let the compiler drop the comparison.
Halide::Expr less(const Halide::Expr &, const Halide::Expr &);
Halide::Expr less_equal(const Halide::Expr &, const Halide::Expr &);
Halide::Expr equal(const Halide::Expr &, const Halide::Expr &);

// Tests the bits of the number: compilers assume that some operations never give NaN or infinities.
Halide::Expr is_nan(const Halide::Expr &);
Halide::Expr is_finite(const Halide::Expr &);

// Converts the number to another type. Keeps NaN and infinities, which compilers assume Halide's
// own conversion between floats never meets. To integers it rounds towards zero, saturates, and
// gives 0 for NaN.
Halide::Expr cast(Halide::Type, const Halide::Expr &);
// bf16 of a weight, which is at least 0 or a quiet NaN, as arithmetic gives: to nearest, of two as
// near the larger one; -0 becomes 0. A third of the operations of the above, whose ties go to even.
Halide::Expr weight_as_bf16(const Halide::Expr &);
// bf16 of a weight by one instruction, for vectors of 32 numbers only. Ties go to even, and numbers
// below the least normal one become 0.
Halide::Expr bf16_in_hardware(const Halide::Expr &);

}  // namespace qkv::codegen::strict
