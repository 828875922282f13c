// SPDX-License-Identifier: BSL-1.0
#pragma once
// Scores that are cosines (Henry, Dachapally, Pawar, Chen 2020).
#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/reduce.hpp>

namespace qkv {
namespace detail {

constexpr marks of_unit_length(marks m, const axis_data *features) {
  m.done = {treatment::unit, features};
  return m;
}
// x, known to have unit length.
template <an_axis auto Features, class X>
constexpr auto as_unit(const X &x) {
  return marked<own_label<of<X>>, of_unit_length(of<X>.m, data_of<Features>)>(x);
}

}  // namespace detail

// Computes: x at length 1: x / sqrt(sum of x^2 over the features + epsilon).
// Shapes:   as x.
// Numerics: f32.
// Errors:   x lacks the features.
template <an_axis auto Features>
inline constexpr auto unit_length =
    formula<"unit_length(x[, epsilon])">([](traced auto x, double epsilon = 1e-12) {
      constexpr detail::rule::carries<"unit_length"> features{core::axes_of<Features>()};
      return detail::as_unit<Features>(
          x * rsqrt(sum<Features>(detail::expect<features>(x) * x) + epsilon));
    });

// Computes: scale * cosine of query and key: the scores, in the place of Q K' / sqrt(d). The other
//           way to normalise them is rms_norm or layer_norm of each, before the product.
// Shapes:   Q[.., query, features], K[.., key, features] -> [.., query, key]; scale is a number, or
//           a param along some of these, as param<"g", heads>
// Numerics: f32.
// Errors:   as dot; as multiplication: a scale along an axis that the scores lack.
template <an_axis auto Features>
inline constexpr auto qk_norm = formula<"qk_norm(query, key, scale)">(
    [](traced auto query, traced auto key, operand auto scale) {
      return dot<Features>(unit_length<Features>(query), unit_length<Features>(key)) * scale;
    });

}  // namespace qkv
