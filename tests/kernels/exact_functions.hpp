// SPDX-License-Identifier: BSL-1.0
#pragma once
// Errors in ulp, their documented bounds, and the exact values that results are compared with.
#include <algorithm>
#include <cmath>
#include <limits>
#include <qkv/core/op.hpp>
#include <type_traits>

#include "codegen/program/floating_numbers.hpp"
#include "codegen/program/meaning.hpp"

namespace qkv::testing {

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

// ---- errors -------------------------------------------------------------------------------------
// The spacing of the type's numbers around x.
template <class T>
long double ulp(long double x) {
  using limits = std::numeric_limits<T>;
  int e = 0;
  std::frexp(x, &e);
  return std::ldexp(1.L,
                    std::clamp(e, limits::min_exponent, limits::max_exponent) - limits::digits);
}

// The error in ulp of the exact value. NaN and infinities must match; a finite value beyond the
// type's range counts as the power of two above its largest number, and so does an infinity in its
// place.
template <class T>
double error_of(T got, long double exact) {
  constexpr double wrong = infinity<double>;
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : wrong;
  if (std::isinf(exact)) return got == exact ? 0 : wrong;
  const long double end = std::ldexp(1.L, std::numeric_limits<T>::max_exponent);
  const long double off = std::clamp<long double>(got, -end, end) - std::clamp(exact, -end, end);
  return static_cast<double>(std::fabs(off) / ulp<T>(exact));
}

// The largest error and its operands.
template <class T>
struct worst {
  double error = 0;
  T x = 0, y = 0, got = 0;
  void add(T at, T second, T result, long double exact) {
    const double e = error_of(result, exact);
    if (e > error || std::isnan(e)) error = e, x = at, y = second, got = result;
  }
};

// ---- exact values -------------------------------------------------------------------------------
template <class T>
double bound_of(core::op kind) {
  const core::largest_error &e = core::facts_of(kind).error;
  return sizeof(T) == 4 ? e.f32 : e.f64;
}

// 29 and 11 more bits of precision than f32 and f64.
template <class T>
using exact_type = std::conditional_t<sizeof(T) == 4, double, long double>;

// tests/program/meaning_test.cpp compares these meanings with values made outside of qkv. Of one
// operand: x.
template <class T>
exact_type<T> exact_value(core::op kind, T x, T y) {
  return codegen::meaning_of<codegen::floating_numbers<exact_type<T>>>(kind, x, y);
}

}  // namespace qkv::testing
