// SPDX-License-Identifier: BSL-1.0
#pragma once
// Pointwise operations on one element, and sums of a row of numbers; T is long double, double or
// float.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <qkv/core/half.hpp>
#include <type_traits>

#include "codegen/program/meaning.hpp"
#include "codegen/reference/order.hpp"

namespace qkv::codegen::detail {

// Floating numbers of C++, as a kind of numbers of program/meaning.hpp: a truth is 1 or 0.
template <class F>
struct numbers {
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

template <class T>
T unary(op kind, T x) {
  return meaning_of<numbers<T>>(kind, x, x);
}
template <class T>
T binary(op kind, T x, T y) {
  return meaning_of<numbers<T>>(kind, x, y);
}

// Calls compute(o) with the operation o, as a constant if it is a frequent one, so that no loop in
// `compute` has to select it for each element.
template <class F>
void with_operation(op kind, F compute) {
  switch (kind) {
    case op::add:
      return compute(std::integral_constant<op, op::add>{});
    case op::sub:
      return compute(std::integral_constant<op, op::sub>{});
    case op::mul:
      return compute(std::integral_constant<op, op::mul>{});
    case op::div:
      return compute(std::integral_constant<op, op::div>{});
    case op::less_equal:
      return compute(std::integral_constant<op, op::less_equal>{});
    case op::less:
      return compute(std::integral_constant<op, op::less>{});
    default:
      return compute(kind);
  }
}

// Casts to integers round towards zero, saturate, and give 0 for NaN, never -0; a cast to b8 tests
// for not 0.
template <class T>
T cast_to(dtype type, T x) {
  if (type == i32)
    return std::isnan(x) ? T(0) : std::clamp(std::trunc(x), T(-0x1p31), T(0x1p31 - 1)) + T(0);
  if (type == b8) return x != 0 ? T(1) : T(0);
  return type == bf16 || type == f16 ? static_cast<T>(stored(type, static_cast<double>(x))) : x;
}

// Number of partial sums; elements are added to them in turn.
inline std::size_t lanes_of(order how) { return how == order::in_eights ? 8 : 1; }

// A sum in the given order; elements come one by one.
template <class T>
class summation {
 public:
  explicit summation(order how) : lanes_(lanes_of(how)) {}
  void add(T x) {
    partial_[next_] += x;
    if (++next_ == lanes_) next_ = 0;
  }
  T value() const {
    T s = partial_[0];
    for (std::size_t k = 1; k < lanes_; ++k) s += partial_[k];
    return s;
  }

 private:
  std::size_t lanes_, next_ = 0;
  T partial_[8]{};
};

}  // namespace qkv::codegen::detail
