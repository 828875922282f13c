#pragma once
// Attention with linear biases (Press, Smith, Lewis 2022).
#include <qkv/attention/causal.hpp>

namespace qkv {

// Computes: 2^(-8 (h + 1) / H) of head h, H heads: the slopes of the paper.
// Shapes:   [heads]
// Numerics: f32.
// Errors:   none here.
template <an_axis Heads>
constexpr auto alibi_slopes(Heads heads) {
  return pow(2.0, (index(heads) + 1) * -8.0 / size(heads));
}

// Computes: -slope * |distance between key and query|, to be added to scores:
//           scores + alibi<seq, kv>(alibi_slopes(heads)), or with a param<"slope", heads>.
// Shapes:   those of slope, then [key, query]
// Numerics: f32.
// Errors:   sizes that are unrelated, and the alignment not said.
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid, operand Slope>
  requires detail::passes<detail::distance_check<"alibi", Query, Key, Where>>
constexpr auto alibi(Slope slope) {
  return slope * -abs(detail::distance<Query, Key, Where>());
}
template <an_axis auto Query, an_axis auto Key, align Where = align::unsaid, operand Slope,
          class Err = detail::refusal<detail::distance_check<"alibi", Query, Key, Where>>>
Err alibi(Slope);

}  // namespace qkv
