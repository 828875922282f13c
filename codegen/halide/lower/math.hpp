// SPDX-License-Identifier: BSL-1.0
#pragma once
// Elementary functions as Halide expressions. Of f32: they vectorise on every target, with the same
// bits on every x86 target. Of f64: the C library's, lane by lane.
#include <Halide.h>

#include <limits>

namespace qkv::codegen::math {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// A number of this type; the lowest that is finite.
Halide::Expr constant(Halide::Type, double);
Halide::Expr lowest(Halide::Type);

// e^x for x <= 0, the case of weights; x may be a little above 0, up to 88. In f32: within 2 ulp of
// 1, and 0 below -69.3; NaN stays NaN.
Halide::Expr exp_nonpositive(Halide::Expr x);

// True if x is 0; false for NaN.
Halide::Expr is_zero(const Halide::Expr &);

// Of whole numbers too; NaN on either side comes through, where Halide's min and max drop one.
Halide::Expr smaller(const Halide::Expr &, const Halide::Expr &);
Halide::Expr larger(const Halide::Expr &, const Halide::Expr &);

// The functions of the language; op_table in dsl/qkv/core/op.hpp has their largest errors. Denormal
// numbers, infinities and NaN are as in IEEE 754; silu and gelu are 0 at -inf, their limit.
Halide::Expr exp(Halide::Expr x);
Halide::Expr log(Halide::Expr x);
// For positions that follow from other positions alone: bounds inference forms bounds of them, and
// fails on some choices inside log().
Halide::Expr rough_log(const Halide::Expr &x);
Halide::Expr relu(Halide::Expr x);
Halide::Expr tanh(Halide::Expr x);
Halide::Expr sin(Halide::Expr x);
Halide::Expr sigmoid(Halide::Expr x);
Halide::Expr silu(Halide::Expr x);  // x sigmoid(x)
Halide::Expr erf(Halide::Expr x);
Halide::Expr gelu(Halide::Expr x);  // x/2 (1 + erf(x / sqrt 2)), not the tanh form
Halide::Expr elu(Halide::Expr x);   // x, or e^x - 1 below 0
Halide::Expr pow(Halide::Expr base, Halide::Expr exponent);

}  // namespace qkv::codegen::math
