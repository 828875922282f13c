#pragma once
// Scores that cannot grow without bound (Gemma 2: Gemma Team 2024).
#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/functions.hpp>

namespace qkv {

// Computes: cap * tanh(scores / cap), between -cap and cap. It stands after the scale, before bias
//           and mask.
// Shapes:   as the scores; cap is a number or carries some of their axes.
// Numerics: f32.
// Errors:   as division: a cap along an axis that the scores lack.
inline constexpr auto softcap = formula<"softcap(scores, cap)">(
    [](traced auto scores, operand auto cap) { return tanh(scores / cap) * cap; });

}  // namespace qkv
