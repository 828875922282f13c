// SPDX-License-Identifier: BSL-1.0
#pragma once
// Reductions: sum, max, min, mean, logsumexp over the named axes.
#include <qkv/core/call.hpp>
#include <qkv/core/weights.hpp>

namespace qkv {
namespace detail {
namespace rule {

template <op Kind>
struct reduction {
  axes over{};
  static constexpr op kind = Kind;
  static constexpr bool folds_axes = true;
  static constexpr label_text form = label_text() << name_of(kind) << "<axes..>(x)";
  static constexpr sv call = form.view();
  static constexpr bool of_two = kind == op::max_over || kind == op::min_over;

  constexpr text check(const info &x) const {
    message m;
    if (names_no_axis(m, name_of(kind), over, x)) return m;
    const call_name call{name_of(kind), over};
    if (lacks_axis(m, call, over, x)) return m;
    if (kind == op::sum && shifted_elsewhere(m, call, x)) return m;
    if ((kind == op::sum || kind == op::mean) && centred_elsewhere(m, call, x)) return m;
    if (const axes again = x.m.weights.common(over); kind == op::logsumexp && !again.empty())
      m.say(call, ": ", x.label, " already holds weights over ", again)
          .say("take it of the scores; if it is meant, logsumexp<", over, ">(plain(..))")
          .show(x);
    return m;
  }
  constexpr axes shape(const info &x) const { return x.s.without(over); }
  constexpr marks meaning(const info &x) const {
    marks m = values(x.m, result_type(kind, x.m.type));
    m.statistic = x.m.statistic.with(over);
    m.contracted = kind == op::sum ? x.m.contracted.with(over) : x.m.contracted;
    if (kind == op::sum && is_done(x, treatment::shifted, over)) m.done = x.m.done;
    m.hidden.left_out = !x.m.hidden.masked.common(over).empty();
    return m;
  }
};

}  // namespace rule

template <op Kind, auto... Ax>
inline constexpr rule::reduction<Kind> reduce_over{core::axes_of<Ax...>()};

}  // namespace detail

// Computes: the sum over the named axes.
// Shapes:   x carries them; the result has the others.
// Numerics: f32 (i32 of whole numbers, wrapping around); masked positions are left out; 0 when none
//           is left.
// Errors:   an axis that x lacks; exp shifted by a maximum over another axis.
template <an_axis auto... Ax, traced X>
  requires detail::fits<detail::reduce_over<core::op::sum, Ax...>, X>
constexpr auto sum(X x) {
  return detail::make_step<detail::reduce_over<core::op::sum, Ax...>>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::reduction<core::op::sum>,
                                         detail::brackets<Ax...>, T...>>
Err sum(T...);

// Computes: the largest over the named axes.
// Shapes:   x carries them; the result has the others.
// Numerics: the type of x; masked positions are left out; -inf (the least i32) when none is left.
// Errors:   an axis that x lacks.
template <an_axis auto... Ax, traced X>
  requires detail::fits<detail::reduce_over<core::op::max_over, Ax...>, X>
constexpr auto max(X x) {
  return detail::make_step<detail::reduce_over<core::op::max_over, Ax...>>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::reduction<core::op::max_over>,
                                         detail::brackets<Ax...>, T...>>
Err max(T...);

// Computes: the smallest over the named axes.
// Shapes:   x carries them; the result has the others.
// Numerics: the type of x; masked positions are left out; +inf (the largest i32) when none is left.
// Errors:   an axis that x lacks.
template <an_axis auto... Ax, traced X>
  requires detail::fits<detail::reduce_over<core::op::min_over, Ax...>, X>
constexpr auto min(X x) {
  return detail::make_step<detail::reduce_over<core::op::min_over, Ax...>>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::reduction<core::op::min_over>,
                                         detail::brackets<Ax...>, T...>>
Err min(T...);

// Computes: the sum over the named axes, divided by how many positions took part.
// Shapes:   x carries them; the result has the others.
// Numerics: f32; masked positions are not counted; 0 when none is left.
// Errors:   an axis that x lacks.
template <an_axis auto... Ax, traced X>
  requires detail::fits<detail::reduce_over<core::op::mean, Ax...>, X>
constexpr auto mean(X x) {
  return detail::make_step<detail::reduce_over<core::op::mean, Ax...>>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::reduction<core::op::mean>,
                                         detail::brackets<Ax...>, T...>>
Err mean(T...);

// Computes: log of the sum of exp over the named axes.
// Shapes:   x carries them; the result has the others.
// Numerics: f32, the maximum subtracted first; masked positions are left out; -inf when none is
//           left, inf when one of the elements is.
// Errors:   an axis that x lacks; weights over it.
template <an_axis auto... Ax, traced X>
  requires detail::fits<detail::reduce_over<core::op::logsumexp, Ax...>, X>
constexpr auto logsumexp(X x) {
  return detail::make_step<detail::reduce_over<core::op::logsumexp, Ax...>>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::reduction<core::op::logsumexp>,
                                         detail::brackets<Ax...>, T...>>
Err logsumexp(T...);

}  // namespace qkv
