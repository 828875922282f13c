#pragma once
// Scores that are cosines (Henry, Dachapally, Pawar, Chen 2020).
#include <qkv/core/trial.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/reduce.hpp>

namespace qkv {
namespace detail {

template <axes Features, class Q, class K, class Scale>
struct qk_norm_check {
  static constexpr text why() {
    trial t;
    t("scores", rule::binary<op::mul>{}, t("cosines", rule::dot{Features}, of<Q>, of<K>),
      of<Scale>);
    return t.why;
  }
};

}  // namespace detail

// Computes: x at length 1: x / sqrt(sum of x^2 over the features + epsilon).
// Shapes:   as x.
// Numerics: f32.
// Errors:   x lacks the features.
template <an_axis auto Features, traced X>
  requires detail::fits<detail::reduce_over<op::sum, Features>, X>
constexpr auto unit_length(X x, double epsilon = 1e-12) {
  return x * rsqrt(sum<Features>(x * x) + epsilon);
}
template <an_axis auto Features, traced X,
          class Err = detail::misfit<detail::reduce_over<op::sum, Features>, X>>
Err unit_length(X, double = 1e-12);

// Computes: scale * cosine of query and key: the scores, in the place of Q K' / sqrt(d). The other
//           way to normalise them is rms_norm or layer_norm of each, before the product.
// Shapes:   Q[.., query, features], K[.., key, features] -> [.., query, key]; scale is a number, or
//           a param along some of these, as param<"g", heads>
// Numerics: f32.
// Errors:   as dot; as multiplication: a scale along an axis that the scores lack.
template <an_axis auto Features, traced Q, traced K, operand Scale>
  requires detail::passes<detail::qk_norm_check<axes_of<Features>(), Q, K, Scale>>
constexpr auto qk_norm(Q query, K key, Scale scale) {
  return dot<Features>(unit_length<Features>(query), unit_length<Features>(key)) * scale;
}
template <an_axis auto Features, traced Q, traced K, operand Scale,
          class Err = detail::refusal<detail::qk_norm_check<axes_of<Features>(), Q, K, Scale>>>
Err qk_norm(Q, K, Scale);

}  // namespace qkv
