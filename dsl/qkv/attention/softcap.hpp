#pragma once
// Scores that cannot grow without bound (Gemma 2: Gemma Team 2024).
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/functions.hpp>

namespace qkv {

// Computes: cap * tanh(scores / cap), between -cap and cap. It stands after the scale, before bias
//           and mask.
// Shapes:   as the scores; cap is a number or carries some of their axes.
// Numerics: f32.
// Errors:   as division: a cap along an axis that the scores lack.
template <traced X, operand Cap>
  requires detail::binary_fits<op::div, X, Cap>
constexpr auto softcap(X scores, Cap cap) {
  return tanh(scores / cap) * cap;
}
template <traced X, operand Cap, class Err = detail::binary_misfit<op::div, X, Cap>>
Err softcap(X, Cap);

}  // namespace qkv
