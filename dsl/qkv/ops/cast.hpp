#pragma once
// Another element type.
#include <qkv/core/step.hpp>

namespace qkv {
namespace detail::rule {

struct cast {
  dtype to = f32;
  static constexpr op kind = op::cast;
  static constexpr axes over{};

  constexpr text check(const info &) const { return {}; }
  constexpr axes shape(const info &x) const { return x.s; }
  constexpr marks meaning(const info &x) const {
    if (!is_float(to)) return bent(x.m, to);
    marks m = x.m;
    m.type = to;
    m.gated = x.m.gated || x.m.type == b8;
    m.given = false;
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
// Errors:   none.
template <dtype To, traced X>
constexpr auto cast(X x) {
  return detail::make_step<detail::rule::cast{To}>(x);
}

template <class To, class... T, class Err = detail::refusal<detail::type_in_cast>>
Err cast(T...);
template <traced X, class... T, class Err = detail::refusal<detail::type_in_cast>>
Err cast(X, T...);

}  // namespace qkv
