// SPDX-License-Identifier: BSL-1.0
#pragma once
// Floating numbers of C++, as a kind of numbers of meaning.hpp; casts between types.
#include <algorithm>
#include <cmath>
#include <limits>
#include <qkv/core/half.hpp>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// A truth is 1 or 0.
template <class F>
struct floating_numbers {
  using T = F;
  static T number(T, long double x) { return static_cast<T>(x); }
  static T truth(bool x) { return x ? T(1) : T(0); }
  static bool is_true(T x) { return x != 0; }
  static bool is_nan(T x) { return std::isnan(x); }
  static bool is_minus_infinity(T x) { return x == -std::numeric_limits<T>::infinity(); }
  static bool less(T x, T y) { return x < y; }
  static bool less_equal(T x, T y) { return x <= y; }
  static bool equal(T x, T y) { return x == y; }
  static T choose(bool condition, T x, T y) { return condition ? x : y; }
  static T neg(T x) { return -x; }
  static T add(T x, T y) { return x + y; }
  static T sub(T x, T y) { return x - y; }
  static T mul(T x, T y) { return x * y; }
  static T div(T x, T y) { return x / y; }
  static T pow(T x, T y) { return std::pow(x, y); }
  static T exp(T x) { return std::exp(x); }
  static T expm1(T x) { return std::expm1(x); }
  static T log(T x) { return std::log(x); }
  static T tanh(T x) { return std::tanh(x); }
  static T erf(T x) { return std::erf(x); }
  static T erfc(T x) { return std::erfc(x); }
  static T sqrt(T x) { return std::sqrt(x); }
  static T abs(T x) { return std::abs(x); }
  static T cos(T x) { return std::cos(x); }
  static T sin(T x) { return std::sin(x); }
};

// Casts to integers round towards zero, saturate, and give 0 for NaN, never -0; a cast to b8 tests
// for not 0.
template <class T>
T cast_to(dtype type, T x) {
  if (type == i32)
    return std::isnan(x) ? T(0) : std::clamp(std::trunc(x), T(-0x1p31), T(0x1p31 - 1)) + T(0);
  if (type == b8) return x != 0 ? T(1) : T(0);
  return type == bf16 || type == f16 ? static_cast<T>(stored(type, static_cast<double>(x))) : x;
}

}  // namespace qkv::codegen
