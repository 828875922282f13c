// SPDX-License-Identifier: BSL-1.0
#pragma once
// Tensors filled with one number.
#include <qkv/core/step.hpp>

namespace qkv {
namespace detail {

template <str Name, axes Shape, dtype Type>
constexpr auto filled(double value) {
  return index_expr_with<index_facts<Name, Shape, marks{.type = Type}>::v>(
      {number_node(value, Type), step_node(op::broadcast, Type, Shape, Shape, 0)});
}
template <axes Shape, dtype Type>
constexpr auto zeros() {
  return filled<"zeros", Shape, Type>(0);
}

// zeros(batch, seq), zeros(x)
template <class... T>
struct axes_of_zeros {
  static constexpr bool passes = sizeof...(T) == 0;
  static constexpr text why() {
    message m;
    m.say("zeros: axes belong in <>").say("did you mean zeros<");
    [[maybe_unused]] sv between = "";
    (put<T>(m, between), ...);
    m << ">()?";
    return m;
  }
  template <class A>
  static constexpr void put(message &m, sv &between) {
    if constexpr (an_axis<A>)
      m << between << A::v.name;
    else if (!of<A>.s.empty())
      m << between << of<A>.s;
    between = ", ";
  }
};

// zeros<seq, 64>()
constexpr void say_number(message &m, sv call, std::same_as<int> auto n) {
  if (m.empty()) m.say(call, ": ", long{n}, " is not an axis");
}
constexpr void say_number(message &, sv, any_operand) {}
template <str Name, auto... Ax>
struct stray_axes {
  static constexpr bool passes = !core::entries({Ax...}).stray;
  static constexpr text why() {
    message m;
    (say_number(m, Name.view(), Ax), ...);
    if (m.empty()) m.say(Name.view(), ": an entry is not an axis, or there are two types");
    return m.say("axes have names: axis<.., 64>, and one type is enough");
  }
};

}  // namespace detail

// Computes: the number everywhere.
// Shapes:   [Ax..], or filled<i32, Ax..>(number)
// Numerics: f32 unless a type is named.
// Errors:   none here.
template <auto... Ax>
  requires(!core::entries({Ax...}).stray)
constexpr auto filled(double number) {
  return detail::filled<"filled", core::axes_of<Ax...>(), core::dtype_of<Ax...>()>(number);
}

// Computes: 0 everywhere: the state of a scan before the first position.
// Shapes:   [Ax..], or zeros<f64, Ax..>()
// Numerics: f32 unless a type is named.
// Errors:   none here.
template <auto... Ax>
  requires(!core::entries({Ax...}).stray)
constexpr auto zeros() {
  return detail::zeros<core::axes_of<Ax...>(), core::dtype_of<Ax...>()>();
}

template <class... T, class Err = detail::refusal<detail::axes_of_zeros<T...>>>
Err zeros(T...);
template <auto... Ax, class... T, class Err = detail::refusal<detail::stray_axes<"zeros", Ax...>>>
  requires(core::entries({Ax...}).stray)
Err zeros(T...);
template <auto... Ax, class... T, class Err = detail::refusal<detail::stray_axes<"filled", Ax...>>>
  requires(core::entries({Ax...}).stray)
Err filled(T...);

}  // namespace qkv
