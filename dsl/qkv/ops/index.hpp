#pragma once
// Positions and sizes: expressions that belong to no kernel until they meet one of its steps.
#include <qkv/core/step.hpp>

namespace qkv {
namespace detail {

constexpr node axis_node(op kind, const axis_data *ax, const axes &shape) {
  node n;
  n.kind = kind;
  n.type = i32;
  n.shape = shape;
  n.over = one_axis(ax);
  return n;
}

inline constexpr marks whole_numbers{.type = i32};

}  // namespace detail

// Computes: the position along the axis, 0 first.
// Shapes:   [ax]
// Numerics: i32.
// Errors:   none here; positions of an axis that scores lack do not fit onto them.
template <an_axis Ax>
constexpr auto index(Ax) {
  constexpr axes s = one_axis(&Ax::v);
  constexpr auto name = detail::axis_label<op::index, &Ax::v>;
  return index_expr<name, s, detail::whole_numbers, 1>{{detail::axis_node(op::index, &Ax::v, s)}};
}

// Computes: how many positions the axis has.
// Shapes:   a scalar
// Numerics: i32.
// Errors:   none.
template <an_axis Ax>
constexpr auto size(Ax) {
  constexpr auto name = detail::axis_label<op::size, &Ax::v>;
  return index_expr<name, axes{}, detail::whole_numbers, 1>{
      {detail::axis_node(op::size, &Ax::v, {})}};
}

}  // namespace qkv
