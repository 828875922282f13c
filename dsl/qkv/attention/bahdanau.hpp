// SPDX-License-Identifier: BSL-1.0
#pragma once
// The additive scores of Bahdanau, Cho, Bengio 2015, "Neural Machine Translation by Jointly
// Learning to Align and Translate".
#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/broadcast.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>

namespace qkv {

// Computes: the scores v' tanh(W h + U s).
// Shapes:   h[.., query, of_query], s[.., key, of_key], W[of_query, hidden], U[of_key, hidden],
//           v[hidden] -> [.., query, key]
// Numerics: as dot.
// Errors:   as dot; h lacks query, or s lacks key.
template <an_axis auto Query, an_axis auto Key, an_axis auto OfQuery, an_axis auto OfKey,
          an_axis auto Hidden>
inline constexpr auto bahdanau = formula<"bahdanau(h, s, W, U, v)">(
    [](traced auto h, traced auto s, traced auto w, traced auto u, traced auto v) {
      constexpr core::axes call = core::axes_of<Query, Key>();
      using carries = detail::rule::carries<"bahdanau">;
      auto queries = detail::expect<carries{call, core::axes_of<Query>()}>(h);
      auto keys = detail::expect<carries{call, core::axes_of<Key>()}>(s);
      auto of_query = broadcast<Key>(dot<OfQuery>(queries, w));
      auto of_key = broadcast<Query>(dot<OfKey>(keys, u));
      return dot<Hidden>(tanh(of_query + of_key), v);
    });

}  // namespace qkv
