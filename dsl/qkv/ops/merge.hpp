// SPDX-License-Identifier: BSL-1.0
#pragma once
// Two axes as one, row-major: the inverse of split.
#include <qkv/core/call.hpp>
#include <qkv/ops/split.hpp>

namespace qkv {
namespace detail::rule {

struct merge {
  axes over{};  // whole, a, b
  static constexpr sv call = "merge<whole, first, second>(x)";
  static constexpr op kind = op::merge;

  constexpr text check(const info &x) const {
    message m;
    const call_name call{"merge", over};
    if (over.n != 3) return m.say("merge: the axes must differ").show(x);
    const axes parts = one_axis(over[1]).add(over[2]);
    if (lacks_axis(m, call, parts, x)) return m;
    if (x.s.has(over[0])) return m.say(call, ": ", x.label, " already has ", over[0]->name).show(x);
    if (x.m.split.first && same_name(x.m.split.first.at, over[2]) &&
        same_name(x.m.split.second.at, over[1]))
      return m.say(call, ": ", x.label, " was split as ", over[2]->name, ", ", over[1]->name)
          .say("did you mean merge<", over[0]->name, ", ", over[2]->name, ", ", over[1]->name, ">?")
          .say("or to split as ", over[1]->name, ", ", over[2]->name,
               "? if it is meant, merge plain(..)")
          .show(x);
    const call_name name{"merge", one_axis(over[0])};
    if (product_differs(m, name, over[0], x.s.find(over[1]), x.s.find(over[2]))) m.show(x);
    return m;
  }
  constexpr axes replaced(const axes &s) const {
    return replace(s, one_axis(over[1]).add(over[2]), one_axis(over[0]));
  }
  constexpr axes shape(const info &x) const { return replaced(x.s); }
  constexpr marks meaning(const info &x) const {
    marks m = view_of(x.m, [this](const axes &s) { return replaced(s); });
    // Constant along the whole is constant along both parts.
    const axes whole = one_axis(over[0]), parts = one_axis(over[1]).add(over[2]);
    if (x.m.lacks.apart || !x.m.lacks.mask.contains(parts))
      m.lacks.mask = m.lacks.mask.without(whole);
    if (x.m.lacks.apart || !x.m.lacks.bias.contains(parts))
      m.lacks.bias = m.lacks.bias.without(whole);
    return m;
  }
};

}  // namespace detail::rule

// The whole first, as in split: merge<d_model, heads, d_k>(x).
// Computes: x with position (i, j) of A and B at position i * size(B) + j of Whole.
// Shapes:   A and B replaced by Whole, where the first of them stood; size(Whole) = size(A) *
//           size(B).
// Numerics: no arithmetic; masked positions stay masked.
// Errors:   x lacks A or B or has Whole already; sizes that do not multiply. What is not static is
//           compared at the call. Parts in the other order than that of their split.
template <an_axis auto Whole, an_axis auto A, an_axis auto B, traced X>
  requires detail::fits<detail::rule::merge{core::axes_of<Whole, A, B>()}, X>
constexpr auto merge(X x) {
  return detail::make_step<detail::rule::merge{core::axes_of<Whole, A, B>()}>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::merge, detail::brackets<Ax...>, T...>>
Err merge(T...);

}  // namespace qkv
