// SPDX-License-Identifier: BSL-1.0
#pragma once
// Heads that mix their scores, then their weights (Shazeer, Lan, Cheng, Ding, Hou 2020).
#include <qkv/attention/scaled_dot_product.hpp>
#include <qkv/core/formula.hpp>
#include <qkv/ops/plain.hpp>

namespace qkv {

// Computes: (softmax(s P) W) v, P mixing the heads of the scores and W those of the weights, over
//           the keys that keep lets through. The mask is given here: a sum over heads of scores
//           that are masked is a number again.
// Shapes:   s[.., heads, query, key], P[heads, mixed], W[mixed, heads_v],
//           v[.., heads_v, key, values] -> [.., heads_v, query, values]; heads_v may be heads again
// Numerics: as softmax, mask and dot; of a key that keep hides, not even a NaN in its value is
//           seen, unless keep varies along mixed: then that is 0 times NaN.
// Errors:   as softmax, mask and dot: P and W are params.
template <an_axis auto Key, an_axis auto Heads, an_axis auto Mixed>
inline constexpr auto talking_heads =
    formula<"talking_heads(scores, mix_scores, mix_weights, value[, keep])">(
        [](traced auto scores, traced auto mix_scores, traced auto mix_weights, traced auto value) {
          auto weights = softmax<Key>(dot<Heads>(scores, mix_scores));
          return dot<Key>(dot<Mixed>(weights, mix_weights), value);
        },
        [](traced auto scores, traced auto mix_scores, traced auto mix_weights, traced auto value,
           traced auto keep) {
          auto weights = softmax<Key>(mask(dot<Heads>(scores, mix_scores), keep));
          auto mixed = dot<Mixed>(weights, mix_weights);
          // Mixed, the weights are numbers again: the keys that every head hides are hidden anew.
          if constexpr (detail::of<decltype(mixed)>.s.contains(detail::of<decltype(keep)>.s))
            return dot<Key>(mask(plain(mixed), keep), value);
          else
            return dot<Key>(mixed, value);
        });

}  // namespace qkv
