// SPDX-License-Identifier: BSL-1.0
#pragma once
// Multi-head attention with its projections (Vaswani et al. 2017, section 3.2.2), over another
// sequence or over itself.
#include <qkv/attention/project.hpp>
#include <qkv/attention/scaled_dot_product.hpp>
#include <qkv/core/formula.hpp>
#include <qkv/ops/rename.hpp>

namespace qkv {

// Computes: scaled_dot_product of Q = X Wq, K = E Wk, V = E Wv for each head, then Wo over all
//           heads; over the keys that keep, if it is given, lets through.
// Shapes:   X[.., query, of_x], E[.., key, of_e], Wq[of_x, heads, features],
//           Wk[of_e, heads, features], Wv[of_e, heads, values], Wo[heads, values, out..] ->
//           [.., query, out..]; each W may be with_bias(W, b)
// Numerics: as dot and softmax.
// Errors:   as dot, softmax and mask. Matrices [of_x, heads * features] are those of the same
//           memory; split<d_attn, heads, d_k>(W) says so and checks that heads divide it.
template <an_axis auto OfX, an_axis auto OfE, an_axis auto Key, an_axis auto Heads,
          an_axis auto Features, an_axis auto Values>
inline constexpr auto cross_attention = formula<"cross_attention(X, E, Wq, Wk, Wv, Wo[, keep])">(
    [](traced auto x, traced auto e, projection auto wq, projection auto wk, projection auto wv,
       projection auto wo, traced auto... keep) {
      auto query = project<OfX>(x, wq);
      auto key = project<OfE>(e, wk);
      auto value = project<OfE>(e, wv);
      auto heads = scaled_dot_product<Features, Key>(query, key, value, keep...);
      return project<Heads, Values>(heads, wo);
    });

// Computes: the same of X over itself: its positions are queries, and keys under another name.
// Shapes:   X[.., position, model], Wq, Wk [model, heads, features], Wv[model, heads, values],
//           Wo[heads, values, out..] -> [.., position, out..]
// Numerics: as cross_attention.
// Errors:   as rename and cross_attention.
template <an_axis auto Model, an_axis auto Position, an_axis auto Key, an_axis auto Heads,
          an_axis auto Features, an_axis auto Values>
inline constexpr auto multi_head = formula<"multi_head(X, Wq, Wk, Wv, Wo[, keep])">(
    [](traced auto x, projection auto wq, projection auto wk, projection auto wv,
       projection auto wo, traced auto... keep) {
      return cross_attention<Model, Model, Key, Heads, Features, Values>(
          x, rename<Position, Key>(x), wq, wk, wv, wo, keep...);
    });

}  // namespace qkv
