#pragma once
// Normalisation by the root mean square (Zhang, Sennrich 2019).
#include <qkv/core/trial.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/reduce.hpp>

namespace qkv {
namespace detail {

template <axes Features, class X, class... Gamma>
struct rms_norm_check {
  static constexpr text why() {
    message m;
    const call_name call{"rms_norm", Features};
    if (needs_input(m, call, of<X>) || lacks_axis(m, call, Features, of<X>)) return m;
    trial t;
    if constexpr (sizeof...(Gamma) == 1)
      t("normalised", rule::binary<op::mul>{}, of<X>, of<Gamma>...);
    return t.why;
  }
};

}  // namespace detail

// Computes: x / sqrt(mean of x^2 over the features + epsilon), times gamma.
// Shapes:   as x; gamma carries some of its axes.
// Numerics: f32.
// Errors:   x lacks the features; as multiplication: gamma along an axis that x lacks.
template <an_axis auto Features, traced X>
  requires detail::passes<detail::rms_norm_check<axes_of<Features>(), X>>
constexpr auto rms_norm(X x, double epsilon = 1e-6) {
  return x * rsqrt(mean<Features>(x * x) + epsilon);
}
template <an_axis auto Features, traced X,
          class Err = detail::refusal<detail::rms_norm_check<axes_of<Features>(), X>>>
Err rms_norm(X, double = 1e-6);

template <an_axis auto Features, traced X, traced Gamma>
  requires detail::passes<detail::rms_norm_check<axes_of<Features>(), X, Gamma>>
constexpr auto rms_norm(X x, Gamma gamma, double epsilon = 1e-6) {
  return x * rsqrt(mean<Features>(x * x) + epsilon) * gamma;
}
template <an_axis auto Features, traced X, traced Gamma,
          class Err = detail::refusal<detail::rms_norm_check<axes_of<Features>(), X, Gamma>>>
Err rms_norm(X, Gamma, double = 1e-6);

}  // namespace qkv
