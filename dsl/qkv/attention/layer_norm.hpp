#pragma once
// Layer normalisation (Ba, Kiros, Hinton 2016).
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/reduce.hpp>

namespace qkv {
namespace detail {

template <axes Features, class X, class Gamma, class Beta>
struct layer_norm_check {
  static constexpr text why() {
    message m;
    const call_name call{"layer_norm", Features};
    if (needs_input(m, call, of<X>) || lacks_axis(m, call, Features, of<X>)) return m;
    for (const info *p : {&of<Gamma>, &of<Beta>}) {
      if (sizes_differ(m, call, of<X>, *p)) return m;
      if (!of<X>.s.contains(p->s)) {
        return m
            .say(call, ": ", p->label, " varies along ", p->s.without(of<X>.s), ", which ",
                 of<X>.label, " lacks")
            .show(of<X>, *p);
      }
    }
    return m;
  }
};

}  // namespace detail

// Computes: (x - mean) / sqrt(variance + epsilon) * gamma + beta, mean and variance over the
//           features.
// Shapes:   as x; gamma and beta carry the features, or some axes of x.
// Numerics: f32, the variance from centred values.
// Errors:   x lacks the features; gamma or beta varies along an axis that x lacks.
template <an_axis auto... Features, traced X, traced Gamma, traced Beta>
  requires detail::passes<detail::layer_norm_check<axes_of<Features...>(), X, Gamma, Beta>>
constexpr auto layer_norm(X x, Gamma gamma, Beta beta, double epsilon = 1e-5) {
  auto centred = x - mean<Features...>(x);
  return centred * rsqrt(mean<Features...>(centred * centred) + epsilon) * gamma + beta;
}
template <
    an_axis auto... Features, traced X, traced Gamma, traced Beta,
    class Err = detail::refusal<detail::layer_norm_check<axes_of<Features...>(), X, Gamma, Beta>>>
Err layer_norm(X, Gamma, Beta, double = 1e-5);

}  // namespace qkv
