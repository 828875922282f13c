#pragma once
// The difference of two attentions, which cancels what both attend to (Ye et al. 2024).
#include <qkv/core/trial.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/softmax.hpp>

namespace qkv {
namespace detail {

template <axes Key, class S1, class S2, class V, class Lambda>
struct differential_check {
  static constexpr text why() {
    trial t;
    const rule::softmax soft{Key};
    const rule::dot attend{Key};
    const info first = t("first", attend, t("weights", soft, of<S1>), of<V>);
    const info second = t("second", attend, t("weights", soft, of<S2>), of<V>);
    t("difference", rule::binary<op::sub>{}, first,
      t("second", rule::binary<op::mul>{}, second, of<Lambda>));
    return t.why;
  }
};

}  // namespace detail

// Computes: (softmax(s1) - lambda softmax(s2)) v, as two attentions: neither stores its weights.
//           The paper goes on with rms_norm over the values and a factor 1 - lambda_init.
// Shapes:   s1, s2 [.., query, key], v[.., key, values] -> [.., query, values]; lambda is a number
//           or a param, as param<"lambda"> or param<"lambda", heads>
// Numerics: as softmax and dot.
// Errors:   as softmax, dot and arithmetic.
template <an_axis auto Key, traced S1, traced S2, traced V, operand Lambda>
  requires detail::passes<detail::differential_check<axes_of<Key>(), S1, S2, V, Lambda>>
constexpr auto differential(S1 first, S2 second, V value, Lambda lambda) {
  return dot<Key>(softmax<Key>(first), value) - dot<Key>(softmax<Key>(second), value) * lambda;
}
template <
    an_axis auto Key, traced S1, traced S2, traced V, operand Lambda,
    class Err = detail::refusal<detail::differential_check<axes_of<Key>(), S1, S2, V, Lambda>>>
Err differential(S1, S2, V, Lambda);

}  // namespace qkv
