// SPDX-License-Identifier: BSL-1.0
#pragma once
// The difference of two attentions, which cancels what both attend to (Ye et al. 2024).
#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/softmax.hpp>

namespace qkv {
namespace detail::rule {

// Two attentions of one kind over different scores.
struct differs {
  constexpr text check(const info &first, const info &second) const {
    message m;
    if (first.label == second.label && !is_shortened(first.label))
      m.say("differential: ", first.label, " is given twice, so the attentions differ by a factor")
          .say("each has a query and a key of its own; if it is meant, let<\"second\">(",
               first.label, ")")
          .show(first);
    else if (!first.m.hidden.masked.same_set(second.m.hidden.masked))
      m.say("differential: ", (first.m.hidden.masked.empty() ? second : first).label,
            " is masked, the other scores are not")
          .say("mask both; if it is meant, where(keep, x, -inf) in place of that mask")
          .show(first, second);
    return m;
  }
};

}  // namespace detail::rule

// Computes: (softmax(s1) - lambda softmax(s2)) v, as two attentions: neither stores its weights.
//           The paper goes on with rms_norm over the values and a factor 1 - lambda_init.
// Shapes:   s1, s2 [.., query, key], v[.., key, values] -> [.., query, values]; lambda is a number
//           or a param, as param<"lambda"> or param<"lambda", heads>
// Numerics: as softmax and dot.
// Errors:   as softmax, dot and arithmetic; the same scores twice; a mask of one of them.
template <an_axis auto Key>
inline constexpr auto differential = formula<"differential(first, second, value, lambda)">(
    [](traced auto first, traced auto second, traced auto value, operand auto lambda) {
      auto one = detail::expect<detail::rule::differs{}>(first, second);
      return dot<Key>(softmax<Key>(one), value) - dot<Key>(softmax<Key>(second), value) * lambda;
    });

}  // namespace qkv
