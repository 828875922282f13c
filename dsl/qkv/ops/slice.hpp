#pragma once
// A run of positions of an axis.
#include <algorithm>
#include <cstdint>
#include <type_traits>

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

template <auto From, auto To, class X>
struct slice_check {
  static constexpr text why() { return rule::slice{axes_of<From, To>()}.check(of<X>); }
};

}  // namespace detail

// Computes: the positions first, first + 1, .. of From, as many as To has: slice<d, rotated>(x, 0).
// Shapes:   From replaced by To.
// Numerics: no arithmetic. What would lie beyond the end of From repeats its last position.
// Errors:   x lacks From or has To already; a static To that is longer than From; first is not i32.
template <an_axis auto From, an_axis auto To, traced X, operand First>
  requires detail::passes<detail::slice_check<From, To, X>>
constexpr auto slice(X x, First first) {
  if constexpr (std::is_integral_v<First>)
    return take<From>(x, index(To) + std::min<std::int64_t>(first, 1 << 30));
  else if constexpr (tensor_expr<First> || detail::node_count<First> > 1)
    return take<From>(x, index(To) + min(first, size(From)));  // the largest i32 has no successor
  else
    return take<From>(x, index(To) + first);
}
template <an_axis auto From, an_axis auto To, traced X, operand First,
          class Err = detail::refusal<detail::slice_check<From, To, X>>>
Err slice(X, First);

}  // namespace qkv
