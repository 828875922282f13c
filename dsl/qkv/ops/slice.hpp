// SPDX-License-Identifier: BSL-1.0
#pragma once
// A run of positions of an axis.
#include <cstdint>
#include <type_traits>

#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/index.hpp>
#include <qkv/ops/take.hpp>

namespace qkv {
namespace detail {

namespace rule {

// A take of consecutive positions; the rule of `take` checks the rest.
struct slice {
  axes over{};  // from, to

  constexpr text check(const info &x) const {
    message m;
    const call_name call{"slice", over};
    const axis_data *from = over[0], *to = over[over.n - 1];
    if (needs_input(m, call, x) || lacks_axis(m, call, one_axis(from), x)) return m;
    if (x.s.has(to)) return m.say(call, ": ", x.label, " already has ", to->name).show(x);
    if (from->size >= 0 && to->size > from->size) {
      m.say(call, ": ", to->name, " is ", to->size, " but ", from->name, " is ", from->size)
          .show(x);
    }
    return m;
  }
};

}  // namespace rule

}  // namespace detail

// Computes: the positions first, first + 1, .. of From, as many as To has: slice<d, rotated>(x, 0).
// Shapes:   From replaced by To.
// Numerics: no arithmetic. Positions beyond the end of From repeat its last position.
// Errors:   x lacks From or has To already; a static To that is longer than From; first is not i32.
template <an_axis auto From, an_axis auto To>
inline constexpr auto slice = formula<"slice(x, first)">([](traced auto x, operand auto first) {
  auto whole = detail::expect<detail::rule::slice{core::axes_of<From, To>()}>(x);
  using begin = decltype(detail::as_checked<false>(first));
  if constexpr (std::is_integral_v<begin>) {
    constexpr std::int64_t most = 1 << 30;
    const auto from = static_cast<std::int64_t>(first);
    return take<From>(whole, index(To) + (from < most ? from : most));
  } else if constexpr (tensor_expr<begin> || detail::node_count<begin> > 1) {
    // The largest i32 has no successor.
    return take<From>(whole, index(To) + min(first, size(From)));
  } else {
    return take<From>(whole, index(To) + first);
  }
});

}  // namespace qkv
