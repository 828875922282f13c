// SPDX-License-Identifier: BSL-1.0
#pragma once
// A choice at each position.
#include <qkv/core/call.hpp>
#include <qkv/core/pointwise.hpp>

namespace qkv {
namespace detail {
namespace rule {

struct where {
  static constexpr op kind = op::where;
  static constexpr sv call = "where(condition, yes, no)";
  static constexpr axes over{};

  constexpr text check(const info &c, const info &a, const info &b) const {
    message m;
    if (not_logical(m, {"where"}, c)) return m;
    if (unaligned_causal(m, c)) return m.show(c);
    if (shows_hidden(m, c, a, b)) return m.show(a.number() ? b : a);
    if (b.number() && masks_weights(m, kind, a, c)) return m;
    if (sizes_differ(m, {"where"}, c, a) || sizes_differ(m, {"where"}, c, b) ||
        sizes_differ(m, {"where"}, a, b) || mixed_precision(m, {"where"}, a, b) ||
        origins_differ(m, {"where"}, c, a) || origins_differ(m, {"where"}, c, b) ||
        origins_differ(m, {"where"}, a, b) || (b.number() && rotates_from_0(m, {"where"}, a, c)))
      return m;
    axes largest;
    for (const info *x : {&c, &a, &b})
      if (x->tensor()) largest = larger_first(largest, x->s);
    if ((c.tensor() && c.s.same_set(largest)) || (a.tensor() && a.s.same_set(largest)) ||
        (b.tensor() && b.s.same_set(largest)) || largest.empty()) {
      if (too_many_axes(m, {"where"}, shape(c, a, b))) m.show(c, a, b);
      return m;
    }
    return m.say("where: no side contains the others")
        .say("if it is meant, write broadcast<", largest.without(a.s), ">(", a.label, ")")
        .show(c, a, b);
  }
  // A step where a mask hides keys, and a number where it shows them.
  static constexpr bool shows_hidden(message &m, const info &c, const info &a, const info &b) {
    const bool inverted = c.label.starts_with("!");
    const sv mask = c.label.substr(inverted);
    if (mask.empty() || visibility_in(mask) != mask || names_keys_first(c.m.sides.placed))
      return false;
    const info &number = inverted ? b : a, &x = inverted ? a : b;
    if (!number.number() || x.m.contracted.empty()) return false;
    m.say("where: ", mask, " is true where a key is seen, but ", x.label,
          " is chosen where it is false")
        .say("did you mean where(", c.label, ", ", b.label, ", ", a.label,
             ")? if it is meant, compare positions: index(key) >= ..");
    return true;
  }

  constexpr axes shape(const info &c, const info &a, const info &b) const {
    return larger_first(larger_first(a.s, b.s), c.s);
  }
  constexpr marks meaning(const info &c, const info &a, const info &b) const {
    const axes s = shape(c, a, b);
    marks m;
    m.type = a.m.type == b8 && b.m.type == b8 ? b8 : common_type(a.m.type, b.m.type);
    m.param = (c.tensor() || a.tensor() || b.tensor()) && c.param() && a.param() && b.param();
    m.contracted = a.m.contracted.with(b.m.contracted);
    m.lacks.mask = a.m.lacks.mask.with(b.m.lacks.mask).with(c.m.lacks.mask);
    m.lacks.apart = a.m.lacks.apart || b.m.lacks.apart || c.m.lacks.apart;
    m.statistic = common_statistic(a, b);
    m.weights = kept_weights(a, b, s);
    // where(keep, 0, -1e9), an additive mask
    m.given = c.tensor() && c.m.given && a.number() && b.number();
    for (const info *x : {&c, &a, &b})
      if (m.sides.placed.from < x->m.sides.placed.from) m.sides.placed = x->m.sides.placed;
    // where(causal<seq, kv>, scores, -1e9f) is a mask, too.
    if (b.number()) {
      const sides &keys = (c.m.sides.key ? c : a).m.sides;
      m.sides.query = keys.query, m.sides.key = keys.key, m.sides.by = keys.by;
    }
    return m;
  }
};

}  // namespace rule

template <class C, class A, class B>
concept choice = traced<C> && operand<A> && operand<B>;

}  // namespace detail

// Computes: yes where the condition holds, else no.
// Shapes:   the largest of the three, which must contain the others; numbers and index expressions
//           fit anything.
// Numerics: f32 or f64, or i32 when both values are whole numbers. Branches that are not
//           chosen are not evaluated.
// Errors:   a condition that is not a b8; shapes that do not contain each other; sizes that differ;
//           f64 with f32; scores where a causal or padding mask hides keys; weights where such a
//           mask shows them, which no longer add up to 1.
template <class C, class A, class B>
  requires detail::choice<C, A, B> && detail::fits<detail::rule::where{}, C, A, B>
constexpr auto where(C condition, A yes, B no) {
  return detail::make_step<detail::rule::where{}>(condition, yes, no);
}
template <class... T, class Err = detail::wrong_call<detail::rule::where, detail::brackets<>, T...>>
Err where(T...);

}  // namespace qkv
