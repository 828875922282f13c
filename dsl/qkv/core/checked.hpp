// SPDX-License-Identifier: BSL-1.0
#pragma once
// Operands inside a formula (core/formula.hpp): where a rule refuses them, its refusal becomes the
// result, which every later step passes on. Outside, a refusal is an error.
#include <type_traits>

#include <qkv/core/words.hpp>

namespace qkv::detail {

// A number that a formula was given.
template <class X>
struct checked_number {
  X x;
  constexpr operator X() const { return x; }
};

// Replaces a step that cannot be made; Check::why() is the reason.
template <class Check>
struct refused_by {};

template <class X>
inline constexpr info of<checked_number<X>> = {"number", {}, of<X>.m, form::number, true};
template <class Check>
inline constexpr info of<refused_by<Check>> = {"refused", {}, {}, form::tensor, true, true};

template <class... X>
inline constexpr bool in_formula = (of<X>.checked || ...);

template <const info &Facts>
inline constexpr auto own_label = str_of<Facts.label.size()>(Facts.label);

// The same step with other facts.
template <const info &Facts, class Words = words_of<Facts>, class W, const info &Old>
constexpr expr<Words, Facts> retyped(const expr<W, Old> &x) {
  return {x};
}
template <const info &Facts, class Words = words_of<Facts>, class W, const info &Old, int N>
constexpr index_expr<Words, Facts, N> retyped(const index_expr<W, Old, N> &x) {
  index_expr<Words, Facts, N> r{};
  for (int i = 0; i < N; ++i) r.nodes[i] = x.nodes[i];
  return r;
}

// The same step by another name and with other marks.
template <str Label, marks M, class X>
constexpr auto marked(const X &x) {
  if constexpr (of<X>.refused)
    return x;
  else
    return retyped<facts<Label, of<X>.s, M, of<X>.checked, of<X>.kind>::v>(x);
}

// The same inside a formula, and outside.
template <bool Checked, class X>
constexpr auto as_checked(const X &x) {
  if constexpr (Checked && std::is_arithmetic_v<X>)
    return checked_number<X>{x};
  else
    return x;
}
template <bool Checked, class X>
constexpr auto as_checked(const checked_number<X> &x) {
  if constexpr (Checked)
    return x;
  else
    return x.x;
}
template <bool Checked, class W, const info &F>
constexpr auto as_checked(const expr<W, F> &x) {
  return retyped<facts<own_label<F>, F.s, F.m, Checked, F.kind>::v>(x);
}
template <bool Checked, class W, const info &F, int N>
constexpr auto as_checked(const index_expr<W, F, N> &x) {
  return retyped<index_facts<own_label<F>, F.s, F.m, Checked>::v>(x);
}

template <class First, class... X>
constexpr auto first_refused(const First &first, const X &...x) {
  if constexpr (of<First>.refused)
    return first;
  else
    return first_refused(x...);
}

}  // namespace qkv::detail
