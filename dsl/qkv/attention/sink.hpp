// SPDX-License-Identifier: BSL-1.0
#pragma once
// Softmax with one more logit that has no value: a row may attend to nothing. Learned (gpt-oss:
// OpenAI 2025), or 0: "softmax plus one" (Miller 2023).
#include <limits>
#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/reduce.hpp>
#include <qkv/ops/softmax.hpp>

namespace qkv {

// Computes: sum over the keys of exp(s) v / (sum of exp(s) + exp(sink)), as softmax(s) v *
//           sigmoid(logsumexp(s) - sink), which needs no further pass over the keys.
// Shapes:   s[.., query, key], v[.., key, values] -> [.., query, values]; sink is a number or a
//           param along some axes of the rows, as param<"sink", heads>
// Numerics: as softmax, logsumexp and dot; rows with nothing left give 0, whatever the sink. A sink
//           of -inf is none.
// Errors:   as softmax, dot and subtraction.
template <an_axis auto Key>
inline constexpr auto attend_with_sink = formula<"attend_with_sink(scores, value, sink)">(
    [](traced auto scores, traced auto value, operand auto sink) {
      auto attention = dot<Key>(softmax<Key>(scores), value);
      // of an empty row, finite: -inf less a sink of -inf would be NaN
      auto lse = max(logsumexp<Key>(scores), -std::numeric_limits<float>::max());
      return attention * sigmoid(lse - sink);
    });

// Computes: sum over the keys of exp(s) v / (1 + sum of exp(s)).
// Shapes:   s[.., query, key], v[.., key, values] -> [.., query, values]
// Numerics: as attend_with_sink.
// Errors:   as softmax and dot.
template <an_axis auto Key>
inline constexpr auto softmax_plus_one =
    formula<"softmax_plus_one(scores, value)">([](traced auto scores, traced auto value) {
      return dot<Key>(softmax<Key>(scores), value) * sigmoid(logsumexp<Key>(scores));
    });

}  // namespace qkv
