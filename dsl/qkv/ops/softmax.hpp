// SPDX-License-Identifier: BSL-1.0
#pragma once
// Weights over one or several axes.
#include <qkv/core/call.hpp>
#include <qkv/core/weights.hpp>

namespace qkv {
namespace detail::rule {

struct softmax {
  axes over{};
  static constexpr sv call = "softmax<axes..>(scores)";
  static constexpr op kind = op::softmax;
  static constexpr bool folds_axes = true;

  constexpr text check(const info &x) const {
    message m;
    if (names_no_axis(m, "softmax", over, x)) return m;
    const call_name call{"softmax", over};
    if (lacks_axis(m, call, over, x)) return m;
    if (const axes again = x.m.weights.common(over); !again.empty()) {
      return m.say(call, ": ", x.label, " already holds weights over ", again)
          .say("softmax the scores once; normalize<", over, "> rescales weights")
          .show(x);
    }
    if (wrong_keys(m, call, over, x) || dead_mask(m, call, over, x) ||
        masked_too_early(m, call, over, x) || dropped_too_early(m, call, x))
      return m;
    // Of several axes, each of several terms may have one.
    if (const axes dead = x.m.lacks.bias.common(over); over.n == 1 && !dead.empty()) {
      m.say(call, ": a bias does not vary along ", dead, " and cancels")
          .say("leave it out, or give it the axis ", dead, "; a sink goes into attend_with_sink<",
               dead, ">")
          .show(x);
    }
    return m;
  }
  static constexpr text surplus(const info &x, const info &keep, const auto &...) {
    message m;
    m.say("softmax: takes the scores alone");
    if (keep.m.type != b8) return m.say("it takes ", call);
    return m.say("did you mean softmax<..>(mask(", x.label, ", ", keep.label, "))?");
  }
  constexpr axes shape(const info &x) const { return x.s; }
  constexpr marks meaning(const info &x) const { return weights_over(over, x); }
};

}  // namespace detail::rule

// Computes: exp(x) / sum of exp(x) over the named axes.
// Shapes:   as x, which carries them.
// Numerics: f32, the maximum subtracted first; masked positions and -inf get weight exactly 0; a
//           row with none left gives 0.
// Errors:   an axis that x lacks; weights over that axis already; a mask or bias that does not vary
//           along it; a causal mask whose keys are another axis; scores whose factor was masked in
//           their place; scores after dropout.
template <an_axis auto... Ax, traced X>
  requires detail::fits<detail::rule::softmax{core::axes_of<Ax...>()}, X>
constexpr auto softmax(X x) {
  return detail::make_step<detail::rule::softmax{core::axes_of<Ax...>()}>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::softmax, detail::brackets<Ax...>, T...>>
Err softmax(T...);

}  // namespace qkv
