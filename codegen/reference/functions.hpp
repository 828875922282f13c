#pragma once
// Pointwise operations on one element, and reductions of a row of numbers; T is long double, double
// or float. NaN and infinities are as in IEEE 754; silu and gelu are 0 at -inf, their limit.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <qkv/core/half.hpp>
#include <stdexcept>
#include <type_traits>

#include "codegen/program/program.hpp"
#include "codegen/reference/order.hpp"

namespace qkv::codegen::detail {

template <class T>
T unary(op kind, T x) {
  switch (kind) {
    case op::neg:
      return -x;
    case op::not_:
      return x == 0 ? T(1) : T(0);
    case op::exp:
      return std::exp(x);
    case op::log:
      return std::log(x);
    case op::tanh:
      return std::tanh(x);
    case op::sigmoid:
      return T(1) / (T(1) + std::exp(-x));
    case op::relu:
      return x < 0 ? T(0) : x;
    case op::gelu:
      return x == -std::numeric_limits<T>::infinity()
                 ? T(0)
                 : T(0.5) * x * std::erfc(x * T(-0.70710678118654752440L));
    case op::silu:
      return x == -std::numeric_limits<T>::infinity() ? T(0) : x / (T(1) + std::exp(-x));
    case op::elu:
      return x < 0 ? std::expm1(x) : x;
    case op::sqrt:
      return std::sqrt(x);
    case op::rsqrt:
      return T(1) / std::sqrt(x);
    case op::abs:
      return std::abs(x);
    case op::erf:
      return std::erf(x);
    case op::cos:
      return std::cos(x);
    case op::sin:
      return std::sin(x);
    default:
      throw std::logic_error("not an operation of one operand");
  }
}

// Comparisons and min, max let NaN through as the language says: a comparison with NaN is false, an extreme is NaN.
template <class T>
T binary(op kind, T a, T b) {
  const auto truth = [](bool x) { return x ? T(1) : T(0); };
  switch (kind) {
    case op::add:
      return a + b;
    case op::sub:
      return a - b;
    case op::mul:
      return a * b;
    case op::div:
      return a / b;
    case op::min:
      return std::isnan(a) || a < b ? a : b;
    case op::max:
      return std::isnan(a) || a > b ? a : b;
    case op::pow:
      return std::pow(a, b);
    case op::less:
      return truth(a < b);
    case op::less_equal:
      return truth(a <= b);
    case op::greater:
      return truth(a > b);
    case op::greater_equal:
      return truth(a >= b);
    case op::equal:
      return truth(a == b);
    case op::not_equal:
      return truth(a != b);
    case op::and_:
      return truth(a != 0 && b != 0);
    case op::or_:
      return truth(a != 0 || b != 0);
    default:
      throw std::logic_error("not an operation of two operands");
  }
}

// True if results beyond the range of i32 wrap around.
inline bool wraps(op kind) {
  return kind == op::add || kind == op::sub || kind == op::mul || kind == op::neg ||
         kind == op::abs || kind == op::sum || kind == op::dot || kind == op::cumsum;
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
