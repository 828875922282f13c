#pragma once
// The difference of two attentions, which cancels what both attend to (Ye et al. 2024).
#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/softmax.hpp>

namespace qkv {

// Computes: (softmax(s1) - lambda softmax(s2)) v, as two attentions: neither stores its weights.
//           The paper goes on with rms_norm over the values and a factor 1 - lambda_init.
// Shapes:   s1, s2 [.., query, key], v[.., key, values] -> [.., query, values]; lambda is a number
//           or a param, as param<"lambda"> or param<"lambda", heads>
// Numerics: as softmax and dot.
// Errors:   as softmax, dot and arithmetic.
template <an_axis auto Key>
inline constexpr auto differential = formula<"differential(first, second, value, lambda)">(
    [](traced auto first, traced auto second, traced auto value, operand auto lambda) {
      return dot<Key>(softmax<Key>(first), value) - dot<Key>(softmax<Key>(second), value) * lambda;
    });

}  // namespace qkv
