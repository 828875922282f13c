#pragma once
// Weights taken as numbers, on purpose.
#include <qkv/core/checked.hpp>

namespace qkv {
namespace detail {

constexpr marks forgotten(marks m) {
  m.weights = m.masked = m.zeroed = {};
  m.first = m.second = {};
  m.dropped = false;
  return m;
}

template <str L, axes S, marks M, bool C>
constexpr expr<L, S, forgotten(M), C> plain(const expr<L, S, M, C> &x) {
  return {x.g, x.id};
}
template <class Check>
constexpr refused_by<Check> plain(const refused_by<Check> &x) {
  return x;
}

}  // namespace detail

// Computes: w, no longer taken for what it was made as: for weights, so that a feature map made by
//           softmax may be contracted over any axis, for masked or dropped, or for parts of one
//           axis.
// Shapes:   as w.
// Numerics: as w.
// Errors:   none.
template <tensor_expr X>
constexpr auto plain(X w) {
  return detail::plain(w);
}

}  // namespace qkv
