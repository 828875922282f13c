// SPDX-License-Identifier: BSL-1.0
#pragma once
// + - * / min max pow on two operands, and the sign.
#include <qkv/core/pointwise.hpp>
#include <qkv/core/wrong_operand.hpp>

namespace qkv {
namespace detail {

// By the first letters of the divisor's name: most divisions have none of these.
constexpr bool slips_in_division(message &m, const info &l, const info &r) {
  const sv by = r.label.substr(0, 2);
  if (by == "su") return lacks_exp(m, l, r) || sums_others(m, l, r);
  if (by == "si") return counts_hidden(m, l, r);
  if (by == "sq") return scales_cosine(m, l, r) || scales_capped(m, l, r);
  if (by == "rs") return divides_by_inverse(m, l, r) || divides_by_rsqrt(m, l, r);
  if (by == "me") return divides_by_mean(m, l, r);
  if (by == "in") return divides_by_position(m, l, r);
  if (by == "do") return divides_by_all(m, l, r);
  return cools_weights(m, l, r);
}

namespace rule {

template <op Kind>
struct binary {
  static constexpr op kind = Kind;
  static constexpr axes over{};

  constexpr text check(const info &l, const info &r) const {
    message m;
    const call_name name{name_of(kind)};
    if (adds_truth(m, kind, l, r)) return m;
    if constexpr (kind == op::add)
      if (adds_condition(m, l, r) || adds_condition(m, r, l)) return m;
    if constexpr (kind != op::add && kind != op::mul && kind != op::pow)
      if (takes_itself(m, kind, l, r)) return m;
    if constexpr (kind == op::sub)
      if (subtracts_penalty(m, l, r) || negates_variance(m, l, r) || lacks_mask_of(m, l, r) ||
          subtracts_unmasked(m, l, r))
        return m;
    if constexpr (kind == op::mul)
      if (multiplies_bias(m, l, r) || multiplies_bias(m, r, l)) return m.show(l, r);
    if constexpr (kind == op::mul)
      if ((r.m.hidden.gated && masks_weights(m, kind, l, r)) ||
          (l.m.hidden.gated && masks_weights(m, kind, r, l)))
        return m;
    if constexpr (kind == op::div)
      if (slips_in_division(m, l, r)) return m;
    if (scaled_again(m, kind, l, r) || (kind == op::mul && scaled_again(m, kind, r, l))) return m;
    if (wrong_root(m, kind, l, r) || (kind == op::mul && wrong_root(m, kind, r, l))) return m;
    // index(source) - place is a distance, of places that a product gave, too.
    if (foreign_index(m, name, l, r) || (kind != op::sub && foreign_index(m, name, r, l))) return m;
    if (sizes_differ(m, name, l, r) || mixed_precision(m, name, l, r)) return m;
    if (relations_differ(m, name, l, r)) return m;
    if (l.tensor() && r.tensor() &&
        (unrelated(m, kind, l, r) || (adds(kind) && repeated(m, kind, l, r))))
      return m;
    if (biases_weights(m, kind, l, r) || biases_weights(m, kind, r, l)) return m;
    if (too_many_axes(m, name, shape(l, r))) m.show(l, r);
    return m;
  }
  constexpr axes shape(const info &l, const info &r) const { return pointwise_shape(l, r); }
  constexpr marks meaning(const info &l, const info &r) const { return binary_marks(kind, l, r); }
};

struct negated {
  static constexpr op kind = op::neg;
  static constexpr axes over{};
  constexpr text check(const info &) const { return {}; }
  constexpr axes shape(const info &x) const { return x.s; }
  constexpr marks meaning(const info &x) const {
    marks m = x.m;
    m.type = result_type(kind, m.type);
    m.scale.root = {};
    return m;
  }
};

}  // namespace rule

// Two steps joined by a comma, as in return a, b;
template <class L, class R>
struct listed {
  static constexpr text why() {
    message m;
    m.say("a comma drops ", of<L>.label);
    return m.say("several results are returned in braces: return {", of<L>.label, ", ", of<R>.label,
                 "};");
  }
};

template <op Kind, class L, class R>
concept binary_fits = operands<L, R> && fits<rule::binary<Kind>{}, L, R>;

template <op Kind, class L, class R>
using binary_misfit = refusal<binary_call<rule::binary<Kind>{}, L, R>>;

}  // namespace detail

// Computes: left op right at each position; min and max also of two numbers.
// Shapes:   the larger one; one must contain the other. Numbers, scalars and index expressions fit
//           anything.
// Numerics: f32 or f64, or i32 when both sides are integers; i32 wraps around, but for sums of
//           positions and sizes: calls in which one would are refused. / and pow always give a
//           floating type. The largest errors are those of op_table (core/op.hpp). pow has the
//           special cases of C: pow(x, 0) and pow(1, y) are 1 even for NaN; fractional powers of
//           negative numbers are NaN.
// Errors:   shapes that do not contain each other; sizes that differ; f64 with f32; in + and - a
//           smaller side that would be repeated along axes other than batch axes, unless it is a
//           param, an input or its log, or a statistic over them, lacks queries alone and carries
//           their keys (an alias) without a contraction, or is the shift of x * scale + shift,
//           where scale repeats alike; division by sqrt of an axis that was not contracted, or
//           twice, unless it has as many positions as two that were (d_qk); multiplication by it; a
//           b8; a bias added to weights; alibi subtracted; a condition of positions added as a
//           number; a bias multiplied with scores; division by rsqrt(size(..)) of an axis that was
//           contracted; a position minus itself; exp(x) / sum(x); exp(x) / sum(exp(y)) and x -
//           logsumexp(y), where only one of x and y is masked; weights divided by a temperature;
//           capped scores divided by the root of what was contracted; masked weights less others
//           that are not; weights times a mask that their scores lacked.
template <class L, class R>
  requires detail::binary_fits<core::op::add, L, R>
constexpr auto operator+(L left, R right) {
  return detail::make_step<detail::rule::binary<core::op::add>{}>(left, right);
}
template <class L, class R, class Err = detail::binary_misfit<core::op::add, L, R>>
Err operator+(L, R);

template <class L, class R>
  requires detail::binary_fits<core::op::sub, L, R>
constexpr auto operator-(L left, R right) {
  return detail::make_step<detail::rule::binary<core::op::sub>{}>(left, right);
}
template <class L, class R, class Err = detail::binary_misfit<core::op::sub, L, R>>
Err operator-(L, R);

template <class L, class R>
  requires detail::binary_fits<core::op::mul, L, R>
constexpr auto operator*(L left, R right) {
  return detail::make_step<detail::rule::binary<core::op::mul>{}>(left, right);
}
template <class L, class R, class Err = detail::binary_misfit<core::op::mul, L, R>>
Err operator*(L, R);

template <class L, class R>
  requires detail::binary_fits<core::op::div, L, R>
constexpr auto operator/(L left, R right) {
  return detail::make_step<detail::rule::binary<core::op::div>{}>(left, right);
}
template <class L, class R, class Err = detail::binary_misfit<core::op::div, L, R>>
Err operator/(L, R);

template <class L, class R>
  requires detail::binary_fits<core::op::min, L, R>
constexpr auto min(L left, R right) {
  return detail::make_step<detail::rule::binary<core::op::min>{}>(left, right);
}
template <class L, class R, class Err = detail::binary_misfit<core::op::min, L, R>>
Err min(L, R);
template <class L, class R>
  requires(std::is_arithmetic_v<L> && std::is_arithmetic_v<R>)
constexpr auto min(L left, R right) {
  return right < left ? right : left;
}

template <class L, class R>
  requires detail::binary_fits<core::op::max, L, R>
constexpr auto max(L left, R right) {
  return detail::make_step<detail::rule::binary<core::op::max>{}>(left, right);
}
template <class L, class R, class Err = detail::binary_misfit<core::op::max, L, R>>
Err max(L, R);
template <class L, class R>
  requires(std::is_arithmetic_v<L> && std::is_arithmetic_v<R>)
constexpr auto max(L left, R right) {
  return left < right ? right : left;
}

template <class L, class R>
  requires detail::binary_fits<core::op::pow, L, R>
constexpr auto pow(L left, R right) {
  return detail::make_step<detail::rule::binary<core::op::pow>{}>(left, right);
}
template <class L, class R, class Err = detail::binary_misfit<core::op::pow, L, R>>
Err pow(L, R);
template <class L, class R>
  requires(std::is_arithmetic_v<L> && std::is_arithmetic_v<R>)
constexpr auto pow(L left, R right) {
  return __builtin_pow(static_cast<double>(left), static_cast<double>(right));
}

// Steps are values, so compound assignment is an error. These overloads deduce expr, so that other
// types never instantiate them.
template <class W, const core::info &F, class R, class Err = detail::refusal<detail::changed<R>>>
Err operator+=(expr<W, F> &, const R &);
template <class W, const core::info &F, class R, class Err = detail::refusal<detail::changed<R>>>
Err operator-=(expr<W, F> &, const R &);
template <class W, const core::info &F, class R, class Err = detail::refusal<detail::changed<R>>>
Err operator*=(expr<W, F> &, const R &);
template <class W, const core::info &F, class R, class Err = detail::refusal<detail::changed<R>>>
Err operator/=(expr<W, F> &, const R &);
template <class W, const core::info &F, class V, const core::info &G,
          class Err = detail::refusal<detail::listed<expr<W, F>, expr<V, G>>>>
Err operator,(const expr<W, F> &, const expr<V, G> &);

// Computes: -x.
// Shapes:   as x.
// Numerics: i32 of whole numbers, else f32 or f64.
// Errors:   none.
template <traced X>
constexpr auto operator-(X x) {
  return detail::make_step<detail::rule::negated{}>(x);
}
template <an_axis Ax, class Err = detail::refusal<detail::stray_axis<"-", Ax>>>
Err operator-(Ax);

}  // namespace qkv
