// SPDX-License-Identifier: BSL-1.0
#pragma once
// Comparisons, and, or, not: they only make masks, so they take the union of both shapes.
#include <qkv/core/pointwise.hpp>
#include <qkv/core/wrong_operand.hpp>

namespace qkv {
namespace detail {
namespace rule {

// Comparisons do not chain: a < b < c compares a truth value.
constexpr bool compares_truth(message &m, op kind, const info &l, const info &r) {
  if (!is_comparison(kind) || (l.m.type == b8) == (r.m.type == b8)) return false;
  const sv name = name_of(kind);
  const info &truth = l.m.type == b8 ? l : r;
  m.say(name, ": ", truth.label, " is b8, not a number");
  if (kind == op::equal || kind == op::not_equal)
    m.say("it is true or false as it is; if it is meant, where(", truth.label,
          ", 1, 0) is a number");
  else
    m.say("comparisons do not chain: write a < x and x < b");
  m.show(l, r);
  return true;
}

// All queries see a prefix; a causal mask joined to it hides it again.
constexpr bool hides_prefix(message &m, const info &causal, const info &prefix) {
  const placing &p = causal.m.sides.placed, &q = prefix.m.sides.placed;
  if (!is_call(causal.label, "causal<") || !is_call(prefix.label, "prefix<")) return false;
  if (!same_pair(p.query, p.key, q.query, q.key)) return false;
  m.say("and: ", causal.label, " hides the prefix again")
      .say("did you mean ", prefix.label, " alone? it is causal after the prefix");
  return true;
}

// Refuses comparisons of true quotients of positions: chunks are compared by whole quotients.
constexpr bool compares_quotients(message &m, op kind, const info &l, const info &r) {
  if (!is_comparison(kind) || (!l.m.quotient && !r.m.quotient)) return false;
  const info &x = l.m.quotient ? l : r;
  m.say(name_of(kind), ": ", x.label, " is a true division: 7 / 16 is 0.4375")
      .say("whole: cast<i32>((i + 0.5) / 16); if it is meant, divide by 16.0")
      .show(l, r);
  return true;
}

template <op Kind>
struct logic {
  static constexpr op kind = Kind;
  static constexpr axes over{};

  constexpr text check(const info &l, const info &r) const {
    message m;
    const call_name name{name_of(kind)};
    if (!is_comparison(kind) && (not_logical(m, name, l) || not_logical(m, name, r))) return m;
    if constexpr (is_comparison(kind))
      if (takes_itself(m, kind, l, r)) return m;
    if constexpr (is_comparison(kind))
      if (compares_with_size(m, kind, l, r) || compares_with_size(m, kind, r, l)) return m;
    if (compares_truth(m, kind, l, r) || compares_quotients(m, kind, l, r)) return m;
    if (sizes_differ(m, name, l, r) || mixed_precision(m, name, l, r)) return m;
    if (relations_differ(m, name, l, r)) return m;
    if constexpr (kind == op::or_)
      if (shows_padding(m, l, r) || shows_padding(m, r, l)) return m.show(l, r);
    if constexpr (kind == op::and_)
      if (hides_prefix(m, l, r) || hides_prefix(m, r, l)) return m.show(l, r);
    if (too_many_axes(m, name, shape(l, r))) m.show(l, r);
    return m;
  }
  constexpr axes shape(const info &l, const info &r) const { return pointwise_shape(l, r); }
  constexpr marks meaning(const info &l, const info &r) const { return binary_marks(kind, l, r); }
};

// Operators of C++ that are not in the language.
template <str Name>
struct missing {
  constexpr text check(const info &l, const info &r) const {
    constexpr sv name = Name.view();
    message m;
    m.say(name, ": there is no such operation");
    if (name == "~") return m.say("did you mean !", l.label, "?").show(l);
    if (name == "%")
      m.say("whole: i - n * cast<i32>((i + 0.5) / n)");
    else if (name == "^")
      m.say(l.m.type == b8 ? "did you mean !=?" : "did you mean pow?");
    else
      m.say("did you mean ", l.label, name == "&" ? " and " : " or ", r.label, "?");
    return m.show(l, r);
  }
};

struct inverted {
  static constexpr op kind = op::not_;
  static constexpr axes over{};
  constexpr text check(const info &x) const {
    message m;
    not_logical(m, {"not"}, x);
    return m;
  }
  constexpr axes shape(const info &x) const { return x.s; }
  constexpr marks meaning(const info &x) const {
    marks m = x.m;
    m.sides.key = m.sides.query = {};
    return m;
  }
};

}  // namespace rule

template <op Kind, class L, class R>
concept logic_fits = operands<L, R> && fits<rule::logic<Kind>{}, L, R>;

template <op Kind, class L, class R>
using logic_misfit = refusal<binary_call<rule::logic<Kind>{}, L, R>>;

}  // namespace detail

// Computes: whether left compares so to right, or both, either, at each position.
// Shapes:   the union of both.
// Numerics: b8; what is compared is compared as f32 or f64, or as i32 when both sides are whole
//           numbers.
// Errors:   sizes that differ; f64 with f32; and, or of something that is not a b8; a b8 compared
//           with a number, as in a < b < c; positions divided by a whole number, compared; a
//           position and the size of its axis, compared.
template <class L, class R>
  requires detail::logic_fits<core::op::less, L, R>
constexpr auto operator<(L left, R right) {
  return detail::make_step<detail::rule::logic<core::op::less>{}>(left, right);
}
template <class L, class R, class Err = detail::logic_misfit<core::op::less, L, R>>
Err operator<(L, R);

template <class L, class R>
  requires detail::logic_fits<core::op::less_equal, L, R>
constexpr auto operator<=(L left, R right) {
  return detail::make_step<detail::rule::logic<core::op::less_equal>{}>(left, right);
}
template <class L, class R, class Err = detail::logic_misfit<core::op::less_equal, L, R>>
Err operator<=(L, R);

template <class L, class R>
  requires detail::logic_fits<core::op::greater, L, R>
constexpr auto operator>(L left, R right) {
  return detail::make_step<detail::rule::logic<core::op::greater>{}>(left, right);
}
template <class L, class R, class Err = detail::logic_misfit<core::op::greater, L, R>>
Err operator>(L, R);

template <class L, class R>
  requires detail::logic_fits<core::op::greater_equal, L, R>
constexpr auto operator>=(L left, R right) {
  return detail::make_step<detail::rule::logic<core::op::greater_equal>{}>(left, right);
}
template <class L, class R, class Err = detail::logic_misfit<core::op::greater_equal, L, R>>
Err operator>=(L, R);

template <class L, class R>
  requires detail::logic_fits<core::op::equal, L, R>
constexpr auto operator==(L left, R right) {
  return detail::make_step<detail::rule::logic<core::op::equal>{}>(left, right);
}
template <class L, class R, class Err = detail::logic_misfit<core::op::equal, L, R>>
Err operator==(L, R);

template <class L, class R>
  requires detail::logic_fits<core::op::not_equal, L, R>
constexpr auto operator!=(L left, R right) {
  return detail::make_step<detail::rule::logic<core::op::not_equal>{}>(left, right);
}
template <class L, class R, class Err = detail::logic_misfit<core::op::not_equal, L, R>>
Err operator!=(L, R);

template <class L, class R>
  requires detail::logic_fits<core::op::and_, L, R>
constexpr auto operator&&(L left, R right) {
  return detail::make_step<detail::rule::logic<core::op::and_>{}>(left, right);
}
template <class L, class R, class Err = detail::logic_misfit<core::op::and_, L, R>>
Err operator&&(L, R);

template <class L, class R>
  requires detail::logic_fits<core::op::or_, L, R>
constexpr auto operator||(L left, R right) {
  return detail::make_step<detail::rule::logic<core::op::or_>{}>(left, right);
}
template <class L, class R, class Err = detail::logic_misfit<core::op::or_, L, R>>
Err operator||(L, R);

// These operators do not exist; their errors name the replacement.
template <class L, class R>
  requires detail::operands<L, R> && detail::in_formula<L, R>
constexpr auto operator&(L left, R right) {
  return detail::make_step<detail::rule::missing<"&">{}>(left, right);
}
template <class L, class R, class Err = detail::misfit<detail::rule::missing<"&">{}, L, R>>
  requires detail::operands<L, R>
Err operator&(L, R);

template <class L, class R>
  requires detail::operands<L, R> && detail::in_formula<L, R>
constexpr auto operator|(L left, R right) {
  return detail::make_step<detail::rule::missing<"|">{}>(left, right);
}
template <class L, class R, class Err = detail::misfit<detail::rule::missing<"|">{}, L, R>>
  requires detail::operands<L, R>
Err operator|(L, R);

template <class L, class R>
  requires detail::operands<L, R> && detail::in_formula<L, R>
constexpr auto operator^(L left, R right) {
  return detail::make_step<detail::rule::missing<"^">{}>(left, right);
}
template <class L, class R, class Err = detail::misfit<detail::rule::missing<"^">{}, L, R>>
  requires detail::operands<L, R>
Err operator^(L, R);

template <class L, class R>
  requires detail::operands<L, R> && detail::in_formula<L, R>
constexpr auto operator%(L left, R right) {
  return detail::make_step<detail::rule::missing<"%">{}>(left, right);
}
template <class L, class R, class Err = detail::misfit<detail::rule::missing<"%">{}, L, R>>
  requires detail::operands<L, R>
Err operator%(L, R);

template <traced X>
  requires detail::in_formula<X>
constexpr auto operator~(X x) {
  return detail::make_step<detail::rule::missing<"~">{}>(x, x);
}
template <traced X, class Err = detail::misfit<detail::rule::missing<"~">{}, X, X>>
Err operator~(X);
template <class L, class R, class Err = detail::refusal<detail::stray_axis<"%", L, R>>>
  requires(an_axis<L> || an_axis<R>)
Err operator%(L, R);

// Computes: whether x does not hold.
// Shapes:   as x.
// Numerics: b8.
// Errors:   x is not a b8.
template <traced X>
  requires detail::fits<detail::rule::inverted{}, X>
constexpr auto operator!(X x) {
  return detail::make_step<detail::rule::inverted{}>(x);
}
template <traced X, class Err = detail::misfit<detail::rule::inverted{}, X>>
Err operator!(X);
template <an_axis Ax, class Err = detail::refusal<detail::stray_axis<"!", Ax>>>
Err operator!(Ax);

}  // namespace qkv
