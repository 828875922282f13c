#pragma once
// A tensor of zeros: the state of a scan before the first position.
#include <qkv/core/step.hpp>

namespace qkv {
namespace detail {

template <axes Shape, dtype Type>
constexpr auto zeros() {
  return index_expr<"zeros", Shape, marks{.type = Type}, 2>{
      {number_node(0, Type), step_node(op::broadcast, Type, Shape, Shape, 0)}};
}

}  // namespace detail

// Computes: 0 everywhere.
// Shapes:   [Ax..], or zeros<f64, Ax..>()
// Numerics: f32 unless a type is named.
// Errors:   none here.
template <auto... Ax>
  requires((detail::is_axis<Ax> || detail::is_dtype<Ax>) && ...)
constexpr auto zeros() {
  return detail::zeros<axes_of<Ax...>(), dtype_of<Ax...>()>();
}

}  // namespace qkv
