// SPDX-License-Identifier: BSL-1.0
#pragma once
// Another element type.
#include <qkv/core/step.hpp>

namespace qkv {
namespace detail::rule {

struct cast {
  dtype to = f32;
  static constexpr op kind = op::cast;
  static constexpr axes over{};

  constexpr text check(const info &x) const {
    message m;
    if (to == i32 && !x.m.weights.empty())
      m.say("cast<i32>: ", x.label, " holds weights over ", x.m.weights,
            ", which are below 1 and become 0")
          .say("leave the cast out; if it is meant, plain(..) of the weights")
          .show(x);
    return m;
  }
  constexpr axes shape(const info &x) const { return x.s; }
  constexpr marks meaning(const info &x) const {
    if (!is_float(to)) return bent(x.m, to);
    marks m = x.m;
    m.type = to;
    m.hidden.gated = x.m.hidden.gated || x.m.type == b8;
    return m;
  }
};

}  // namespace detail::rule

namespace detail {

struct type_in_cast {
  static constexpr text why() {
    message m;
    return m.say("cast: element types are the values f32, bf16, f16, f64, i32, b8")
        .say("did you mean cast<f32>(x)?");
  }
};

}  // namespace detail

// Computes: x as numbers of type To: cast<f32>(length).
// Shapes:   as x.
// Numerics: to i32 towards zero, saturating, 0 for NaN; to b8 true if x is not 0; to 16 bits to
//           nearest even, f64 and i32 through f32 first, and NaN stays NaN.
// Errors:   weights as whole numbers.
template <dtype To, traced X>
  requires detail::fits<detail::rule::cast{To}, X>
constexpr auto cast(X x) {
  return detail::make_step<detail::rule::cast{To}>(x);
}

template <dtype To, traced X, class Err = detail::misfit<detail::rule::cast{To}, X>>
Err cast(X);

template <class To, class... T, class Err = detail::refusal<detail::type_in_cast>>
Err cast(T...);
template <traced X, class... T, class Err = detail::refusal<detail::type_in_cast>>
Err cast(X, T...);

}  // namespace qkv
