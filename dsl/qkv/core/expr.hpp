#pragma once
// Expressions: the type knows a label, the shape and the marks; the value is a position in the
// graph of a kernel.
#include <qkv/core/graph.hpp>
#include <qkv/core/marks.hpp>

namespace qkv {

// A step of the kernel whose graph is g. Checked: inside a formula (core/formula.hpp).
template <str Label, core::axes Shape, core::marks Meaning, bool Checked = false>
struct [[nodiscard("a step changes no other: use what it gives")]] expr {
  core::graph *g = nullptr;
  int id = -1;
};

// Made of positions, sizes and numbers only: belongs to no kernel until it meets one of its steps.
// N nodes.
template <str Label, core::axes Shape, core::marks Meaning, int N, bool Checked = false>
struct [[nodiscard("a step changes no other: use what it gives")]] index_expr {
  core::node nodes[N];
};

namespace detail {

enum class form : unsigned char { other, number, index, tensor };

// What rules see of an operand.
struct info {
  sv label;
  axes s;
  marks m;
  form kind = form::other;

  constexpr bool tensor() const { return kind == form::tensor; }
  constexpr bool index() const { return kind == form::index; }
  constexpr bool number() const { return kind == form::number; }
  constexpr bool param() const { return !tensor() || m.param; }
};

template <class T>
inline constexpr info of = {"number",
                            {},
                            {.type = std::integral<T> ? i32 : f32},
                            std::is_arithmetic_v<T> ? form::number : form::other};
template <str L, axes S, marks M, bool C>
inline constexpr info of<expr<L, S, M, C>> = {L.view(), S, M, form::tensor};
template <str L, axes S, marks M, int N, bool C>
inline constexpr info of<index_expr<L, S, M, N, C>> = {L.view(), S, M, form::index};

}  // namespace detail

// A step of a kernel.
template <class T>
concept tensor_expr = detail::of<T>.tensor();
// That, or an expression of positions and sizes.
template <class T>
concept traced = detail::of<T>.tensor() || detail::of<T>.index();
// That, or a number.
template <class T>
concept operand = detail::of<T>.tensor() || detail::of<T>.index() || detail::of<T>.number();

namespace detail {

// Of an operator: C++ computes numbers alone.
template <class L, class R>
concept operands = operand<L> && operand<R> && (traced<L> || traced<R>);

}  // namespace detail

}  // namespace qkv
