// SPDX-License-Identifier: BSL-1.0
#pragma once
// Scores that cannot grow without bound (Gemma 2: Gemma Team 2024).
#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/functions.hpp>

namespace qkv {
namespace detail::rule {

struct uncapped {
  constexpr text check(const info &x) const {
    message m;
    if (!x.m.weights.empty())
      m.say("softcap: ", x.label, " holds weights over ", x.m.weights)
          .say("cap the scores before softmax; if it is meant, plain(..) of the weights")
          .show(x);
    return m;
  }
};

}  // namespace detail::rule

// Computes: cap * tanh(scores / cap), between -cap and cap. It comes after the scale, before bias
//           and mask.
// Shapes:   as the scores; cap is a number or carries some of their axes.
// Numerics: f32.
// Errors:   as division: a cap along an axis that the scores lack; weights.
inline constexpr auto softcap =
    formula<"softcap(scores, cap)">([](traced auto scores, operand auto cap) {
      return tanh(detail::expect<detail::rule::uncapped{}>(scores) / cap) * cap;
    });

}  // namespace qkv
