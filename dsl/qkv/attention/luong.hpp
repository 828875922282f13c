// SPDX-License-Identifier: BSL-1.0
#pragma once
// The scores of Luong, Pham, Manning 2015, "Effective Approaches to Attention-based Neural Machine
// Translation": dot, general, concat; and the state computed from the context.
#include <qkv/core/formula.hpp>
#include <qkv/ops/concat.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>

namespace qkv {

// Computes: the scores h's.
// Shapes:   h[.., query, features], s[.., key, features] -> [.., query, key]
// Numerics: as dot.
// Errors:   as dot.
template <an_axis auto Features>
inline constexpr auto luong_dot =
    formula<"luong_dot(h, s)">([](traced auto h, traced auto s) { return dot<Features>(h, s); });

// Computes: the scores h'Ws.
// Shapes:   h[.., query, of_query], W[of_query, of_key], s[.., key, of_key] -> [.., query, key]
// Numerics: as dot.
// Errors:   as dot.
template <an_axis auto OfQuery, an_axis auto OfKey>
inline constexpr auto luong_general = formula<"luong_general(h, W, s)">(
    [](traced auto h, traced auto w, traced auto s) { return dot<OfKey>(dot<OfQuery>(h, w), s); });

// Computes: the scores v' tanh(W [h; s]). bahdanau gives the same without a tensor of all pairs,
//           for W in two parts.
// Shapes:   h[.., query, of_query], s[.., key, of_key], W[both, hidden], v[hidden] ->
//           [.., query, key]; both = of_query + of_key
// Numerics: as dot.
// Errors:   as concat and dot.
template <an_axis auto Both, an_axis auto OfQuery, an_axis auto OfKey, an_axis auto Hidden>
inline constexpr auto luong_concat = formula<"luong_concat(h, s, W, v)">(
    [](traced auto h, traced auto s, traced auto w, traced auto v) {
      return dot<Hidden>(tanh(dot<Both>(concat<Both, OfQuery, OfKey>(h, s), w)), v);
    });

// Computes: tanh(W [context; h]): the state that attends.
// Shapes:   context[.., query, of_context], h[.., query, of_query], W[both, out] ->
//           [.., query, out]
// Numerics: as dot.
// Errors:   as concat and dot.
template <an_axis auto Both, an_axis auto OfContext, an_axis auto OfQuery>
inline constexpr auto luong_output =
    formula<"luong_output(context, h, W)">([](traced auto context, traced auto h, traced auto w) {
      return tanh(dot<Both>(concat<Both, OfContext, OfQuery>(context, h), w));
    });

}  // namespace qkv
