// SPDX-License-Identifier: BSL-1.0
#pragma once
// Weights taken as numbers, on purpose.
#include <qkv/core/checked.hpp>

namespace qkv {
namespace detail {

constexpr marks forgotten(marks m) {
  m.weights = {};
  m.hidden = {};
  m.split = {};
  m.done = {};
  m.scale.by = {};
  m.projected.made = m.given = false;
  return m;
}

template <class W, const info &F>
constexpr auto forget(const expr<W, F> &x) {
  return retyped<facts<own_label<F>, F.s, forgotten(F.m), F.checked>::v>(x);
}
template <class Check>
constexpr refused_by<Check> forget(const refused_by<Check> &x) {
  return x;
}

}  // namespace detail

// Computes: w without the marks of its origin: for weights, so that a feature map made by softmax
//           may be contracted over any axis, for what was masked, dropped or declared, or for parts
//           of one axis.
// Shapes:   as w.
// Numerics: as w.
// Errors:   none.
template <tensor_expr X>
constexpr auto plain(X w) {
  return detail::forget(w);
}

}  // namespace qkv
