// SPDX-License-Identifier: BSL-1.0
#pragma once
// Expressions: the type refers to the label, the shape and the marks; the value is a node of the
// graph of a kernel.
#include <qkv/core/graph.hpp>
#include <qkv/core/marks.hpp>
#include <qkv/core/unchanged.hpp>

namespace qkv::core {

// A step of the kernel whose graph is g: the result of node id.
struct step : unchanged {
  graph *g = nullptr;
  int id = -1;

  constexpr step() = default;
  constexpr step(graph *kernel, int node) : g(kernel), id(node) {}
  using unchanged::operator=;
};

// An input whose declaration is wrong is misdeclared: no rule takes it.
enum class form : unsigned char { other, number, index, tensor, misdeclared };

// The facts about an operand that rules check.
struct info {
  sv label;
  axes s;
  marks m;
  form kind = form::other;
  bool checked = false;  // inside a formula (core/formula.hpp)
  bool refused = false;  // the result of a refused call (core/checked.hpp)

  constexpr bool tensor() const { return kind == form::tensor; }
  constexpr bool index() const { return kind == form::index; }
  constexpr bool number() const { return kind == form::number; }
  constexpr bool param() const { return !tensor() || m.param; }
};

// Label, shape and marks of an expression: one object, to which types refer. Types stay short.
template <str Label, axes Shape, marks Meaning, bool Checked = false, form Kind = form::tensor>
struct facts {
  static constexpr info v{Label.view(), Shape, Meaning, Kind, Checked};
};

template <str Label, axes Shape, marks Meaning, bool Checked = false>
using index_facts = facts<Label, Shape, Meaning, Checked, form::index>;

// Shape and marks as text, which editors show with the type (core/words.hpp).
template <str... Line>
struct words;

}  // namespace qkv::core

namespace qkv::detail {

template <const info &Facts, class... T>
struct called;  // core/called.hpp

}  // namespace qkv::detail

namespace qkv {

// A step of the kernel. Editors show the words, rules read the facts.
template <class Words, const core::info &Facts>
struct [[nodiscard("a step changes no other: use what it gives")]] expr : core::step {
  using core::step::operator=;
  template <class... T, class Err = detail::refusal<detail::called<Facts, T...>>>
  Err operator()(T...) const;
};

// N nodes, made of positions, sizes and numbers only: belongs to no kernel until it meets one of
// its steps.
template <class Words, const core::info &Facts, int N>
struct [[nodiscard("a step changes no other: use what it gives")]] index_expr : core::unchanged {
  using core::unchanged::operator=;
  template <class... T, class Err = detail::refusal<detail::called<Facts, T...>>>
  Err operator()(T...) const;
  core::node nodes[N];
};

namespace detail {

template <class T>
inline constexpr info of = {"number",
                            {},
                            {.type = std::integral<T> ? i32 : f32},
                            std::is_arithmetic_v<T> ? form::number : form::other};
template <class W, const info &Facts>
inline constexpr const info &of<expr<W, Facts>> = Facts;
template <class W, const info &Facts, int N>
inline constexpr const info &of<index_expr<W, Facts, N>> = Facts;

}  // namespace detail

// A step of a kernel.
template <class T>
concept tensor_expr = detail::of<T>.tensor();
// A step, or an expression of positions and sizes.
template <class T>
concept traced = detail::of<T>.tensor() || detail::of<T>.index();
// One of these, or a number.
template <class T>
concept operand = detail::of<T>.tensor() || detail::of<T>.index() || detail::of<T>.number();

namespace detail {

// Of an operator: C++ computes numbers alone.
template <class L, class R>
concept operands = operand<L> && operand<R> && (traced<L> || traced<R>);

}  // namespace detail

}  // namespace qkv
