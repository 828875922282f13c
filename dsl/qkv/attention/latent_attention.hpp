// SPDX-License-Identifier: BSL-1.0
#pragma once
// Multi-head latent attention: keys and values are made of one short vector per position, and a
// cache keeps only that (DeepSeek-V2: DeepSeek-AI 2024).
#include <qkv/attention/scaled_dot_product.hpp>
#include <qkv/core/formula.hpp>

namespace qkv {

// Computes: softmax((q k' + r r_k') / sqrt(size(features) + size(rotated))) v with k = c Wk and
//           v = c Wv; r and r_k carry the positions (see rope). Over the keys that keep, if it is
//           given, lets through.
// Shapes:   q[.., heads, query, features], r[.., heads, query, rotated], c[.., key, latent],
//           r_k[.., key, rotated], Wk[latent, heads, features], Wv[latent, heads, values] ->
//           [.., heads, query, values]
// Numerics: as softmax and dot.
// Errors:   as dot, addition, mask and softmax.
template <an_axis auto Latent, an_axis auto Features, an_axis auto Rotated, an_axis auto Key>
inline constexpr auto latent_attention =
    formula<"latent_attention(query, rotated_query, latent, rotated_key, Wk, Wv[, keep])">(
        [](traced auto query, traced auto rotated_query, traced auto latent,
           traced auto rotated_key, traced auto wk, traced auto wv, traced auto... keep) {
          auto content = dot<Features>(query, dot<Latent>(latent, wk));
          auto scores = (content + dot<Rotated>(rotated_query, rotated_key)) /
                        sqrt(size(Features) + size(Rotated));
          auto value = dot<Latent>(latent, wv);
          if constexpr (sizeof...(keep) == 1)
            return dot<Key>(softmax<Key>(mask(scores, keep...)), value);
          else
            return dot<Key>(softmax<Key>(scores), value);
        });

}  // namespace qkv
