// SPDX-License-Identifier: BSL-1.0
#pragma once
// Weights made of any positive numbers.
#include <qkv/core/call.hpp>
#include <qkv/core/roles.hpp>
#include <qkv/core/weights.hpp>

namespace qkv {
namespace detail::rule {

struct normalize {
  axes over{};
  static constexpr sv call = "normalize<axes..>(weights)";
  static constexpr op kind = op::normalize;
  static constexpr bool folds_axes = true;

  constexpr text check(const info &x) const {
    message m;
    if (names_no_axis(m, "normalize", over, x)) return m;
    const call_name call{"normalize", over};
    if (lacks_axis(m, call, over, x)) return m;
    if (x.m.scale.by && !x.s.has(x.m.scale.by.at))
      return m.say(call, ": ", x.label, " are scores, which may be negative")
          .say("did you mean softmax<", over, ">? if it is meant, plain(", x.label, ")")
          .show(x);
    if (features(m, call, x)) return m;
    if (!shifted_elsewhere(m, call, x) && !wrong_keys(m, call, over, x) &&
        !dead_mask(m, call, over, x) && !x.m.hidden.gated)
      masked_too_early(m, call, over, x);
    return m;
  }
  // normalize<d_k>(Q), as torch.nn.functional.normalize has it.
  constexpr bool features(message &m, const call_name &call, const info &x) const {
    const sv role = role_of(x.label);
    const bool named = x.m.given && (role == "query" || role == "key" || role == "value");
    if (over.n != 1 || over[0]->batch || !(named || x.m.projected.made)) return false;
    if (!named && (over[0]->size < 0 || x.m.done.by != treatment::none)) return false;
    m.say(call, ": ", x.label, " may be negative, and so may their sum")
        .say("did you mean unit_length<", over, ">, or softmax<", over, ">? if it is meant, plain(",
             x.label, ")")
        .show(x);
    return true;
  }
  constexpr axes shape(const info &x) const { return x.s; }
  constexpr marks meaning(const info &x) const { return weights_over(over, x); }
};

}  // namespace detail::rule

// Computes: w / sum of w over the named axes.
// Shapes:   as w, which carries them.
// Numerics: f32; masked positions get weight exactly 0; a row whose sum is 0 gives 0.
// Errors:   an axis that w lacks; scaled scores; features of a projection, or of an input named Q;
//           a mask that does not vary along it; a causal mask whose keys are another axis; a factor
//           that was masked in place of w; exp shifted by a maximum over another axis.
template <an_axis auto... Ax, traced X>
  requires detail::fits<detail::rule::normalize{core::axes_of<Ax...>()}, X>
constexpr auto normalize(X w) {
  return detail::make_step<detail::rule::normalize{core::axes_of<Ax...>()}>(w);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::normalize, detail::brackets<Ax...>, T...>>
Err normalize(T...);

}  // namespace qkv
