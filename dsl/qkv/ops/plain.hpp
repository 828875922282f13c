#pragma once
// Weights taken as numbers, on purpose.
#include <qkv/core/step.hpp>

namespace qkv {
namespace detail {

constexpr marks without_weights(marks m) {
  m.weights = {};
  return m;
}

template <str L, axes S, marks M>
constexpr expr<L, S, without_weights(M)> plain(const expr<L, S, M> &x) {
  return {x.g, x.id};
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
