// SPDX-License-Identifier: BSL-1.0
#pragma once
// The same numbers repeated along further axes, written out.
#include <qkv/core/call.hpp>
#include <qkv/core/views.hpp>

namespace qkv {
namespace detail::rule {

struct broadcast {
  axes over{};  // the added axes
  static constexpr sv call = "broadcast<axes..>(x)";
  static constexpr op kind = op::broadcast;

  constexpr text check(const info &x) const {
    message m;
    const call_name call{"broadcast", over};
    if (over.empty()) return m.say("broadcast: names no axis").show(x);
    for (const axis_data *a : over)
      if (x.s.has(a)) return m.say(call, ": ", x.label, " already has ", a->name).show(x);
    if (too_many_axes(m, call, shape(x))) m.show(x);
    return m;
  }
  constexpr axes shape(const info &x) const { return x.s.with(over); }
  constexpr marks meaning(const info &x) const {
    marks m = x.m;
    m.given = false;
    if (!over.non_batch().empty()) m.weights = {};
    return m;
  }
};

}  // namespace detail::rule

// Computes: x at every position of the added axes.
// Shapes:   those of x, then the added ones.
// Numerics: no arithmetic; masked positions stay masked.
// Errors:   x has one of the axes already.
template <an_axis auto... Ax, traced X>
  requires detail::fits<detail::rule::broadcast{core::axes_of<Ax...>()}, X>
constexpr auto broadcast(X x) {
  return detail::make_step<detail::rule::broadcast{core::axes_of<Ax...>()}>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::broadcast, detail::brackets<Ax...>, T...>>
Err broadcast(T...);

}  // namespace qkv
