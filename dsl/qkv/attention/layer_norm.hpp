// SPDX-License-Identifier: BSL-1.0
#pragma once
// Layer normalisation (Ba, Kiros, Hinton 2016).
#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/reduce.hpp>

namespace qkv {
namespace detail {

template <an_axis auto... Features, class X>
constexpr auto normalised(X x, double epsilon) {
  constexpr rule::carries<"layer_norm"> features{axes_of<Features...>()};
  auto centred = x - mean<Features...>(expect<features>(x));
  return centred * rsqrt(mean<Features...>(centred * centred) + epsilon);
}

template <an_axis auto... Features>
inline constexpr rule::within<"layer_norm"> of_features{axes_of<Features...>()};

}  // namespace detail

// Computes: (x - mean) / sqrt(variance + epsilon) * gamma + beta, mean and variance over the
//           features. Without gamma and beta: not scaled and not shifted.
// Shapes:   as x; gamma and beta carry some of the features, perhaps beside batch axes, or are
//           numbers.
// Numerics: f32, the variance from centred values.
// Errors:   x lacks the features; gamma or beta varies along an axis that x lacks, or along none of
//           the features: layer_norm<seq>(x) * gamma scales each channel.
template <an_axis auto... Features>
inline constexpr auto layer_norm = formula<"layer_norm(x[, gamma[, beta]][, epsilon])">(
    [](traced auto x, double epsilon = 1e-5) {
      return detail::normalised<Features...>(x, epsilon);
    },
    [](traced auto x, traced auto gamma, double epsilon = 1e-5) {
      return detail::normalised<Features...>(x, epsilon) *
             detail::expect<detail::of_features<Features...>>(gamma, x);
    },
    [](traced auto x, operand auto gamma, operand auto beta, double epsilon = 1e-5) {
      return detail::normalised<Features...>(x, epsilon) *
                 detail::expect<detail::of_features<Features...>>(gamma, x) +
             detail::expect<detail::of_features<Features...>>(beta, x);
    });

}  // namespace qkv
