#pragma once
// A run of positions of an axis.
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/index.hpp>
#include <qkv/ops/take.hpp>

namespace qkv {
namespace detail {

template <auto From, auto To, class X>
struct slice_check {
  static constexpr text why() {
    message m;
    const call_name call{"slice", axes_of<From, To>()};
    if (needs_input(m, call, of<X>) || lacks_axis(m, call, axes_of<From>(), of<X>)) return m;
    if (of<X>.s.has(data_of<To>))
      return m.say(call, ": ", of<X>.label, " already has ", data_of<To>->name).show(of<X>);
    if (data_of<From>->size >= 0 && data_of<To>->size > data_of<From>->size) {
      m.say(call, ": ", data_of<To>->name, " is ", data_of<To>->size, " but ", data_of<From>->name,
            " is ", data_of<From>->size)
          .show(of<X>);
    }
    return m;
  }
};

}  // namespace detail

// Computes: the positions first, first + 1, .. of From, as many as To has: slice<d, rotated>(x, 0).
// Shapes:   From replaced by To.
// Numerics: no arithmetic. What would lie beyond the end of From repeats its last position.
// Errors:   x lacks From or has To already; a static To that is longer than From; first is not i32.
template <an_axis auto From, an_axis auto To, traced X, operand First>
  requires detail::passes<detail::slice_check<From, To, X>>
constexpr auto slice(X x, First first) {
  return take<From>(x, index(To) + first);
}
template <an_axis auto From, an_axis auto To, traced X, operand First,
          class Err = detail::refusal<detail::slice_check<From, To, X>>>
Err slice(X, First);

}  // namespace qkv
