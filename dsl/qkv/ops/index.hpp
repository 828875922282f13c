// SPDX-License-Identifier: BSL-1.0
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

// An argument that is not an axis, where an axis is required.
template <str Name, class T>
struct axis_wanted {
  static constexpr bool passes = an_axis<T>;
  static constexpr text why() {
    message m;
    if constexpr (operand<T>)
      m.say(Name.view(), ": ", of<T>.label, " is not an axis");
    else
      m.say(Name.view(), ": this is not an axis");
    m.say("axes are given by their C++ names");
    if constexpr (traced<T>) m.show(of<T>);
    return m;
  }
};

// index<seq>()
template <str Name, an_axis auto Ax>
struct round_wanted {
  static constexpr text why() {
    message m;
    m.say(Name.view(), ": the axis goes in ()");
    return m.say("did you mean ", Name.view(), "(", Ax.v.name, ")?");
  }
};

}  // namespace detail

// Computes: the position along the axis, 0 first.
// Shapes:   [ax]
// Numerics: i32.
// Errors:   none here; positions of an axis that scores lack do not fit onto them.
template <an_axis Ax>
constexpr auto index(Ax) {
  constexpr core::axes s = one_axis(&Ax::v);
  constexpr auto name = detail::axis_label<core::op::index, &Ax::v>;
  return detail::index_expr_with<core::index_facts<name, s, detail::whole_numbers>::v>(
      {detail::axis_node(core::op::index, &Ax::v, s)});
}

template <class T, class Err = detail::refusal<detail::axis_wanted<"index", T>>>
Err index(T);
template <an_axis auto Ax, class... T,
          class Err = detail::refusal<detail::round_wanted<"index", Ax>>>
Err index(T...);

// Computes: the number of positions of the axis.
// Shapes:   a scalar
// Numerics: i32.
// Errors:   none.
template <an_axis Ax>
constexpr auto size(Ax) {
  constexpr auto name = detail::axis_label<core::op::size, &Ax::v>;
  return detail::index_expr_with<core::index_facts<name, core::axes{}, detail::whole_numbers>::v>(
      {detail::axis_node(core::op::size, &Ax::v, {})});
}

template <class T, class Err = detail::refusal<detail::axis_wanted<"size", T>>>
Err size(T);
template <an_axis auto Ax, class... T,
          class Err = detail::refusal<detail::round_wanted<"size", Ax>>>
Err size(T...);

}  // namespace qkv
