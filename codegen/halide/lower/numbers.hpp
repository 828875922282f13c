// SPDX-License-Identifier: BSL-1.0
#pragma once
// Expressions of Halide, as a kind of numbers of program/meaning.hpp.
#include <Halide.h>

#include "codegen/halide/lower/choose.hpp"
#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/program/meaning.hpp"

namespace qkv::codegen {

struct halide_numbers {
  using T = Halide::Expr;
  static Halide::Expr number(const Halide::Expr &like, long double x) {
    return math::constant(like.type(), static_cast<double>(x));
  }
  static Halide::Expr truth(const Halide::Expr &x) { return x; }
  static Halide::Expr is_true(const Halide::Expr &x) { return x; }
  static Halide::Expr less(const Halide::Expr &x, const Halide::Expr &y) {
    return strict::less(x, y);
  }
  static Halide::Expr less_equal(const Halide::Expr &x, const Halide::Expr &y) {
    return strict::less_equal(x, y);
  }
  // Of booleans by the operations that Halide 21 solves for a position, unlike a == b.
  static Halide::Expr equal(const Halide::Expr &x, const Halide::Expr &y) {
    return x.type().is_bool() ? codegen::choose(x, y, !y) : strict::equal(x, y);
  }
  static Halide::Expr choose(const Halide::Expr &condition, const Halide::Expr &x,
                             const Halide::Expr &y) {
    return codegen::choose(condition, x, y);
  }
  static Halide::Expr neg(const Halide::Expr &x) { return strict::neg(x); }
  static Halide::Expr add(const Halide::Expr &x, const Halide::Expr &y) {
    return strict::add(x, y);
  }
  static Halide::Expr sub(const Halide::Expr &x, const Halide::Expr &y) {
    return strict::sub(x, y);
  }
  static Halide::Expr mul(const Halide::Expr &x, const Halide::Expr &y) {
    return strict::mul(x, y);
  }
  static Halide::Expr div(const Halide::Expr &x, const Halide::Expr &y) {
    return strict::div(x, y);
  }
  static Halide::Expr pow(const Halide::Expr &x, const Halide::Expr &y) { return math::pow(x, y); }
  static Halide::Expr exp(const Halide::Expr &x) { return math::exp(x); }
  static Halide::Expr log(const Halide::Expr &x) { return math::log(x); }
  static Halide::Expr tanh(const Halide::Expr &x) { return math::tanh(x); }
  static Halide::Expr erf(const Halide::Expr &x) { return math::erf(x); }
  static Halide::Expr sqrt(const Halide::Expr &x) { return Halide::sqrt(x); }
  // Of an i32, Halide's is a u32, and PoCL 3.1 finds abs(x) < n true where n is next to the lowest
  // i32.
  static Halide::Expr abs(const Halide::Expr &x) {
    return x.type().is_float() ? Halide::abs(x) : Halide::max(x, -x);
  }
  static Halide::Expr cos(const Halide::Expr &x) { return Halide::cos(x); }
  static Halide::Expr sin(const Halide::Expr &x) { return math::sin(x); }

  template <op Kind>
    requires(Kind == op::sigmoid || Kind == op::gelu || Kind == op::silu || Kind == op::elu ||
             Kind == op::relu || Kind == op::min || Kind == op::max)
  static Halide::Expr realised(const Halide::Expr &x, const Halide::Expr &y) {
    if constexpr (Kind == op::sigmoid) return math::sigmoid(x);
    if constexpr (Kind == op::gelu) return math::gelu(x);
    if constexpr (Kind == op::silu) return math::silu(x);
    if constexpr (Kind == op::elu) return math::elu(x);
    if constexpr (Kind == op::relu) return x.type().is_float() ? math::relu(x) : Halide::max(x, 0);
    if constexpr (Kind == op::min) return math::smaller(x, y);
    if constexpr (Kind == op::max) return math::larger(x, y);
  }
};

}  // namespace qkv::codegen
