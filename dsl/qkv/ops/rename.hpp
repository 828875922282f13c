// SPDX-License-Identifier: BSL-1.0
#pragma once
// The same numbers under another axis.
#include <qkv/core/call.hpp>
#include <qkv/core/views.hpp>

namespace qkv {
namespace detail::rule {

struct rename {
  axes over{};  // from, to
  static constexpr sv call = "rename<from, to>(x)";
  static constexpr op kind = op::rename;

  constexpr text check(const info &x) const {
    message m;
    const call_name call{"rename", over};
    if (over.n != 2) return m.say("rename: from and to are the same axis").show(x);
    if (lacks_axis(m, call, one_axis(over[0]), x)) return m;
    if (x.s.has(over[1])) return m.say(call, ": ", x.label, " already has ", over[1]->name).show(x);
    const axis_data *from = x.s.find(over[0]);
    if (from->size >= 0 && over[1]->size >= 0 && from->size != over[1]->size) {
      m.say(call, ": ", from->name, " is ", from->size, " but ", over[1]->name, " is ",
            over[1]->size)
          .show(x);
    }
    return m;
  }
  constexpr axes replaced(const axes &s) const {
    return replace(s, one_axis(over[0]), one_axis(over[1]));
  }
  constexpr axes shape(const info &x) const { return replaced(x.s); }
  constexpr marks meaning(const info &x) const {
    marks m = view_of(x.m, [this](const axes &s) { return replaced(s); });
    m.sides = x.m.sides;
    m.split = x.m.split;
    for (maybe_axis *a : {&m.sides.query, &m.sides.key, &m.sides.placed.query, &m.sides.placed.key,
                          &m.split.first, &m.split.second})
      *a = renamed(*a);
    return m;
  }
  constexpr maybe_axis renamed(maybe_axis a) const {
    return a && same_name(a.at, over[0]) ? over[1] : a;
  }
};

}  // namespace detail::rule

// From, then to: rename<seq, kv>(x).
// Computes: x, whose axis From is now called To.
// Shapes:   From replaced by To.
// Numerics: no arithmetic; masked positions stay masked.
// Errors:   x lacks From or has To already; static sizes that differ. Sizes of unrelated run-time
//           axes are compared at the call.
template <an_axis auto From, an_axis auto To, traced X>
  requires detail::fits<detail::rule::rename{core::axes_of<From, To>()}, X>
constexpr auto rename(X x) {
  return detail::make_step<detail::rule::rename{core::axes_of<From, To>()}>(x);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::rename, detail::brackets<Ax...>, T...>>
Err rename(T...);

}  // namespace qkv
