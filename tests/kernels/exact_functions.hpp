// SPDX-License-Identifier: BSL-1.0
#pragma once
// Exact values of functions, the documented bounds of their errors, and errors in ulp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

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

// ---- functions of one number --------------------------------------------------------------------
// T is double for f32 and long double for f64: 29 and 11 more bits of precision.
template <class T>
struct function {
  const char *name;
  double bound;  // ulp
  T (*exact)(T);
};

template <class T>
T sigmoid_of(T x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
template <class T>
T silu_of(T x) {
  return x == -infinity<T> ? 0 : x * sigmoid_of(x);
}
template <class T>
T gelu_of(T x) {
  return x == -infinity<T> ? 0 : x / 2 * std::erfc(x * T(-0.707106781186547524400844L));
}
template <class T>
T elu_of(T x) {
  return x < 0 ? std::expm1(x) : x;
}
template <class T>
T softplus_of(T x) {
  return std::fmax(x, T(0)) + std::log1p(std::exp(-std::fabs(x))) + (std::isnan(x) ? x : T(0));
}
template <class T>
T rsqrt_of(T x) {
  return 1 / std::sqrt(x);
}

// As documented in dsl/qkv/ops/functions.hpp, in the order of the kernels' results.
template <class T>
std::vector<function<T>> functions() {
  return {{"exp", 2, std::exp},
          {"log", 2, std::log},
          {"log1p", 3, std::log1p},
          {"tanh", 3, std::tanh},
          {"sigmoid", 3, sigmoid_of<T>},
          {"silu", 4, silu_of<T>},
          {"gelu", sizeof(T) == 8 ? 6. : 20., gelu_of<T>},
          {"elu", 2, elu_of<T>},
          {"softplus", 6, softplus_of<T>},
          {"erf", 2, std::erf},
          {"sqrt", 1, std::sqrt},
          {"rsqrt", 2, rsqrt_of<T>},
          {"sin", 4, std::sin},
          {"cos", 4, std::cos}};
}

}  // namespace qkv::testing
