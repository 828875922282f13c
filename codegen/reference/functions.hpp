// SPDX-License-Identifier: BSL-1.0
#pragma once
// Pointwise operations on one element, and sums of a row of numbers; T is long double, double or
// float.
#include <cstddef>
#include <type_traits>

#include "codegen/program/floating_numbers.hpp"
#include "codegen/program/meaning.hpp"
#include "codegen/reference/order.hpp"

namespace qkv::codegen::detail {

template <class T>
T unary(op kind, T x) {
  return meaning_of<floating_numbers<T>>(kind, x, x);
}
template <class T>
T binary(op kind, T x, T y) {
  return meaning_of<floating_numbers<T>>(kind, x, y);
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
