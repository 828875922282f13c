#pragma once
// Tensors of one number.
#include <qkv/core/step.hpp>

namespace qkv {
namespace detail {

template <str Name, axes Shape, dtype Type>
constexpr auto filled(double value) {
  return index_expr<Name, Shape, marks{.type = Type}, 2>{
      {number_node(value, Type), step_node(op::broadcast, Type, Shape, Shape, 0)}};
}
template <axes Shape, dtype Type>
constexpr auto zeros() {
  return filled<"zeros", Shape, Type>(0);
}

template <class A, class... Ax>
struct axes_of_zeros {
  static constexpr text why() {
    message m;
    m.say("zeros: axes stand in <>").say("did you mean zeros<", A::v.name);
    ((m << ", " << Ax::v.name), ...);
    m << ">()?";
    return m;
  }
};

}  // namespace detail

// Computes: the number everywhere.
// Shapes:   [Ax..], or filled<i32, Ax..>(number)
// Numerics: f32 unless a type is named.
// Errors:   none here.
template <auto... Ax>
  requires detail::only_axes<Ax...>
constexpr auto filled(double number) {
  return detail::filled<"filled", core::axes_of<Ax...>(), core::dtype_of<Ax...>()>(number);
}

// Computes: 0 everywhere: the state of a scan before the first position.
// Shapes:   [Ax..], or zeros<f64, Ax..>()
// Numerics: f32 unless a type is named.
// Errors:   none here.
template <auto... Ax>
  requires detail::only_axes<Ax...>
constexpr auto zeros() {
  return detail::zeros<core::axes_of<Ax...>(), core::dtype_of<Ax...>()>();
}

template <an_axis A, an_axis... Ax, class Err = detail::refusal<detail::axes_of_zeros<A, Ax...>>>
Err zeros(A, Ax...);

}  // namespace qkv
