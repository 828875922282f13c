#pragma once
// Operands inside a formula (core/formula.hpp): where a rule refuses them, its refusal becomes the
// result, which every later step passes on. Outside, a refusal is an error.
#include <type_traits>

#include <qkv/core/expr.hpp>
#include <qkv/core/shape_error.hpp>

namespace qkv::detail {

// A number that a formula was given.
template <class X>
struct checked_number {
  X x;
  constexpr operator X() const { return x; }
};

// In the place of a step that cannot be made; Check::why() says why.
template <class Check>
struct refused_by {};

template <class X>
inline constexpr info of<checked_number<X>> = of<X>;
template <class Check>
inline constexpr info of<refused_by<Check>> = {"refused", {}, {}, form::tensor};

template <class X>
inline constexpr bool is_refused = false;
template <class Check>
inline constexpr bool is_refused<refused_by<Check>> = true;

template <class X>
inline constexpr bool is_checked = is_refused<X>;
template <class X>
inline constexpr bool is_checked<checked_number<X>> = true;
template <str L, axes S, marks M>
inline constexpr bool is_checked<expr<L, S, M, true>> = true;
template <str L, axes S, marks M, int N>
inline constexpr bool is_checked<index_expr<L, S, M, N, true>> = true;

template <class... X>
inline constexpr bool in_formula = (is_checked<X> || ...);

// The same step by another name, with other marks, inside a formula or outside.
template <str Label, marks M, bool Checked, str L, axes S, marks Old, bool Was>
constexpr expr<Label, S, M, Checked> retyped(const expr<L, S, Old, Was> &x) {
  return {x.g, x.id};
}
template <str Label, marks M, bool Checked, str L, axes S, marks Old, int N, bool Was>
constexpr index_expr<Label, S, M, N, Checked> retyped(const index_expr<L, S, Old, N, Was> &x) {
  index_expr<Label, S, M, N, Checked> r{};
  for (int i = 0; i < N; ++i) r.nodes[i] = x.nodes[i];
  return r;
}

// The same step by another name and with other marks.
template <str Label, marks M, class X>
constexpr auto marked(const X &x) {
  if constexpr (is_refused<X>)
    return x;
  else
    return retyped<Label, M, is_checked<X>>(x);
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
template <bool Checked, str L, axes S, marks M, bool Was>
constexpr auto as_checked(const expr<L, S, M, Was> &x) {
  return retyped<L, M, Checked>(x);
}
template <bool Checked, str L, axes S, marks M, int N, bool Was>
constexpr auto as_checked(const index_expr<L, S, M, N, Was> &x) {
  return retyped<L, M, Checked>(x);
}

template <class First, class... X>
constexpr auto first_refused(const First &first, const X &...x) {
  if constexpr (is_refused<First>)
    return first;
  else
    return first_refused(x...);
}

}  // namespace qkv::detail
