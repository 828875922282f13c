#pragma once
// A sequence as one vector, or a few: learned queries (Yang et al. 2016; Lee et al. 2019).
#include <qkv/attention/scaled_dot_product.hpp>

namespace qkv {

// Computes: softmax(q x' / sqrt(size(features))) x over the positions that keep lets through.
// Shapes:   x[.., position, features], q[features] or q[queries, features] -> q's axes and those of
//           x without position
// Numerics: as scaled_dot_product.
// Errors:   as scaled_dot_product.
template <an_axis auto Features, an_axis auto Position, traced X, traced Q>
  requires detail::attends<Features, Position, X, Q, X>
constexpr auto attention_pooling(X x, Q query) {
  return scaled_dot_product<Features, Position>(x, query, x);
}
template <an_axis auto Features, an_axis auto Position, traced X, traced Q,
          class Err = detail::attends_not<Features, Position, X, Q, X>>
Err attention_pooling(X, Q);

template <an_axis auto Features, an_axis auto Position, traced X, traced Q, traced Keep>
  requires detail::attends<Features, Position, X, Q, X, Keep>
constexpr auto attention_pooling(X x, Q query, Keep keep) {
  return scaled_dot_product<Features, Position>(x, query, x, keep);
}
template <an_axis auto Features, an_axis auto Position, traced X, traced Q, traced Keep,
          class Err = detail::attends_not<Features, Position, X, Q, X, Keep>>
Err attention_pooling(X, Q, Keep);

}  // namespace qkv
