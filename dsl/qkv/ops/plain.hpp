#pragma once
// Weights taken as numbers, on purpose.
#include <qkv/core/checked.hpp>

namespace qkv {
namespace detail {

constexpr marks without_weights(marks m) {
  m.weights = {};
  return m;
}

template <str L, axes S, marks M, bool C>
constexpr expr<L, S, without_weights(M), C> plain(const expr<L, S, M, C> &x) {
  return {x.g, x.id};
}
template <class Check>
constexpr refused_by<Check> plain(const refused_by<Check> &x) {
  return x;
}

}  // namespace detail

// Computes: w, no longer taken for weights: a feature map made by softmax may be contracted over
//           any axis.
// Shapes:   as w.
// Numerics: as w.
// Errors:   none.
template <tensor_expr X>
constexpr auto plain(X w) {
  return detail::plain(w);
}

}  // namespace qkv
