#pragma once
// A tensor of zeros: the state of a scan before the first position.
#include <qkv/core/step.hpp>

namespace qkv {
namespace detail {

template <axes Shape>
constexpr auto zeros() {
  return index_expr<"zeros", Shape, marks{}, 2>{
      {number_node(0, f32), step_node(op::broadcast, f32, Shape, Shape, 0)}};
}

}  // namespace detail

// Computes: 0 everywhere.
// Shapes:   [Ax..]
// Numerics: f32.
// Errors:   none here.
template <an_axis auto... Ax>
constexpr auto zeros() {
  return detail::zeros<axes_of<Ax...>()>();
}

}  // namespace qkv
