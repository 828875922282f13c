// SPDX-License-Identifier: BSL-1.0
#pragma once
// Prefix sums.
#include <qkv/core/call.hpp>

namespace qkv {
namespace detail::rule {

struct cumsum {
  axes over{};
  static constexpr sv call = "cumsum<axis>(x)";
  static constexpr op kind = op::cumsum;
  static constexpr bool folds_axes = true;

  constexpr text check(const info &x) const {
    message m;
    const call_name call{"cumsum", over};
    lacks_axis(m, call, over, x);
    return m;
  }
  constexpr axes shape(const info &x) const { return x.s; }
  constexpr marks meaning(const info &x) const { return values(x.m, result_type(kind, x.m.type)); }
};

}  // namespace detail::rule

// Computes: the sum of the positions up to and with this one: y[i] = x[0] + .. + x[i].
// Shapes:   as x, which carries Ax.
// Numerics: f32 (i32 of whole numbers), added in order; masked positions count as 0.
// Errors:   x lacks Ax.
template <an_axis auto Ax, traced X>
  requires detail::fits<detail::rule::cumsum{core::axes_of<Ax>()}, X>
constexpr auto cumsum(X x) {
  return detail::make_step<detail::rule::cumsum{core::axes_of<Ax>()}>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::cumsum, detail::brackets<Ax...>, T...>>
Err cumsum(T...);

}  // namespace qkv
