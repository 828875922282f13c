// SPDX-License-Identifier: BSL-1.0
#pragma once
// A sequence as one vector, or a few: learned queries (Yang et al. 2016; Lee et al. 2019).
#include <qkv/attention/scaled_dot_product.hpp>
#include <qkv/core/formula.hpp>

namespace qkv {

// Computes: softmax(q x' / sqrt(size(features))) x over the positions that keep lets through.
// Shapes:   x[.., position, features], q[features] or q[queries, features] -> q's axes and those of
//           x without position
// Numerics: as scaled_dot_product.
// Errors:   as scaled_dot_product.
template <an_axis auto Features, an_axis auto Position>
inline constexpr auto attention_pooling = formula<"attention_pooling(x, query[, keep])">(
    [](traced auto x, traced auto query, traced auto... keep) {
      return scaled_dot_product<Features, Position>(x, query, x, keep...);
    });

}  // namespace qkv
