// SPDX-License-Identifier: BSL-1.0
#pragma once
// The attention of "Attention Is All You Need" (Vaswani et al. 2017), equation 1.
#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/mask.hpp>
#include <qkv/ops/softmax.hpp>
#include <qkv/ops/sqrt_size.hpp>

namespace qkv {

// Computes: softmax(Q K' / sqrt(size(features))) V over the keys that keep lets through.
// Shapes:   Q[.., query, features], K[.., key, features], V[.., key, values] -> [.., query, values]
//           K and V may lack heads that Q has: all query heads then share them (multi-query
//           attention, Shazeer 2019).
// Numerics: as softmax, mask and dot; the scores are not stored.
// Errors:   as softmax, mask and dot.
template <an_axis auto Features, an_axis auto Key>
inline constexpr auto scaled_dot_product = formula<"scaled_dot_product(query, key, value[, keep])">(
    [](traced auto query, traced auto key, traced auto value) {
      return dot<Key>(softmax<Key>(dot<Features>(query, key) / sqrt(Features)), value);
    },
    [](traced auto query, traced auto key, traced auto value, traced auto keep) {
      auto scores = dot<Features>(query, key) / sqrt(Features);
      return dot<Key>(softmax<Key>(mask(scores, keep)), value);
    });

}  // namespace qkv
