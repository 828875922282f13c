// SPDX-License-Identifier: BSL-1.0
#pragma once
// One axis as two, row-major.
#include <qkv/core/call.hpp>
#include <qkv/core/views.hpp>

namespace qkv {
namespace detail {

// The divisors of whole on both sides of n, as "4 or 8".
constexpr text near_divisors(long whole, long n) {
  text t;
  long below = n - 1, above = n + 1;
  while (below > 0 && whole % below) --below;
  while (above <= whole && whole % above) ++above;
  if (below > 0) t << below;
  if (below > 0 && above <= whole) t << " or ";
  if (above <= whole) t << above;
  return t;
}

// whole = a * b, as far as it is known now.
constexpr bool product_differs(message &m, const call_name &call, const axis_data *whole,
                               const axis_data *a, const axis_data *b) {
  if (whole->size < 0) {
    return false;
  } else if (a->size >= 0 && b->size >= 0 && a->size * b->size == whole->size) {
    return false;
  }
  for (const axis_data *x : {a, b})
    if (x->size == 0 || (x->size > 0 && whole->size % x->size)) {
      m.say(call, ": ", x->size, " ", x->name, " do not divide ", whole->name, "=", whole->size,
            " (rest ", x->size ? whole->size % x->size : whole->size, ")");
      m.say("divisors near: ", near_divisors(whole->size, x->size));
      return true;
    }
  if (a->size < 0 || b->size < 0) return false;
  m.say(call, ": ", a->name, " * ", b->name, " is ", a->size * b->size, " but ", whole->name,
        " is ", whole->size);
  m.say("did you mean ", b->name, "=", whole->size / a->size, "?");
  return true;
}

namespace rule {

struct split {
  axes over{};  // whole, a, b
  static constexpr sv call = "split<whole, first, second>(x)";
  static constexpr op kind = op::split;

  constexpr text check(const info &x) const {
    message m;
    const call_name call{"split", over};
    if (over.n != 3) return m.say("split: the axes must differ").show(x);
    if (lacks_axis(m, call, one_axis(over[0]), x)) return m;
    for (int i : {1, 2})
      if (x.s.has(over[i]))
        return m.say(call, ": ", x.label, " already has ", over[i]->name).show(x);
    const call_name name{"split", one_axis(over[0])};
    if (product_differs(m, name, x.s.find(over[0]), over[1], over[2]) ||
        too_many_axes(m, call, shape(x)))
      m.show(x);
    return m;
  }
  constexpr axes replaced(const axes &s) const {
    return replace(s, one_axis(over[0]), one_axis(over[1]).add(over[2]));
  }
  constexpr axes shape(const info &x) const { return replaced(x.s); }
  constexpr marks meaning(const info &x) const {
    marks m = view_of(x.m, [this](const axes &s) { return replaced(s); });
    m.split = {over[1], over[2]};
    return m;
  }
};

}  // namespace rule
}  // namespace detail

// The whole first: split<d_model, heads, d_k>(x).
// Computes: x with position i of Whole at position (i / size(B), i % size(B)) of A and B.
// Shapes:   Whole replaced by A, B; size(Whole) = size(A) * size(B).
// Numerics: no arithmetic; masked positions stay masked.
// Errors:   x lacks Whole or has A or B already; sizes that do not multiply (heads that do not
//           divide d_model). What is not static is compared at the call.
template <an_axis auto Whole, an_axis auto A, an_axis auto B, traced X>
  requires detail::fits<detail::rule::split{core::axes_of<Whole, A, B>()}, X>
constexpr auto split(X x) {
  return detail::make_step<detail::rule::split{core::axes_of<Whole, A, B>()}>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::split, detail::brackets<Ax...>, T...>>
Err split(T...);

}  // namespace qkv
