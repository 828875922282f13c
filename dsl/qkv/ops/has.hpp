// SPDX-License-Identifier: BSL-1.0
#pragma once
// The axes of a step, pinned in the middle of a formula.
#include <qkv/core/call.hpp>

namespace qkv {
namespace detail::rule {

struct has {
  axes over{};
  static constexpr sv call = "has<axes..>(x)";

  constexpr text check(const info &x) const {
    message m;
    const call_name call{"has", over};
    for (const axis_data *a : over)
      if (other_axis(m, call, a, x)) return m;
    const axes more = x.s.without(over), missing = over.without(x.s);
    if (more.empty() && missing.empty()) return m;
    m.say(call, ": ", x.label);
    if (!missing.empty()) m << " lacks " << missing;
    if (!more.empty()) m << (missing.empty() ? " also has " : " and also has ") << more;
    return m.show(x);
  }
};

}  // namespace detail::rule

// Computes: x, which has these axes and no others, in any order.
// Shapes:   as x.
// Numerics: as x.
// Errors:   axes that x lacks, or has beside these.
template <an_axis auto... Ax, traced X>
  requires detail::fits<detail::rule::has{core::axes_of<Ax...>()}, X>
constexpr auto has(X x) {
  return detail::expect<detail::rule::has{core::axes_of<Ax...>()}>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::has, detail::brackets<Ax...>, T...>>
Err has(T...);

}  // namespace qkv
