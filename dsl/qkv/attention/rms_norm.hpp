// SPDX-License-Identifier: BSL-1.0
#pragma once
// Normalisation by the root mean square (Zhang, Sennrich 2019).
#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/reduce.hpp>

namespace qkv {
namespace detail {

template <an_axis auto Features, class X>
constexpr auto of_mean_square_1(X x, double epsilon) {
  constexpr rule::carries<"rms_norm"> features{axes_of<Features>()};
  return x * rsqrt(mean<Features>(expect<features>(x) * x) + epsilon);
}

}  // namespace detail

// Computes: x / sqrt(mean of x^2 over the features + epsilon), times gamma.
// Shapes:   as x; gamma carries the features, perhaps beside batch axes.
// Numerics: f32.
// Errors:   x lacks the features; gamma varies along an axis that x lacks, or along none of the
//           features: rms_norm<seq>(x) * gamma scales each channel.
template <an_axis auto Features>
inline constexpr auto rms_norm = formula<"rms_norm(x[, gamma][, epsilon])">(
    [](traced auto x, double epsilon = 1e-6) {
      return detail::of_mean_square_1<Features>(x, epsilon);
    },
    [](traced auto x, traced auto gamma, double epsilon = 1e-6) {
      constexpr detail::rule::within<"rms_norm"> within{core::axes_of<Features>()};
      return detail::of_mean_square_1<Features>(x, epsilon) * detail::expect<within>(gamma, x);
    });

}  // namespace qkv
