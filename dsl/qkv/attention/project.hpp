// SPDX-License-Identifier: BSL-1.0
#pragma once
// A projection: a matrix, with or without a bias.
#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/dot.hpp>

namespace qkv {

// A matrix and what is added after it, where a projection is expected:
// multi_head<...>(X, with_bias(Wq, bq), Wk, ...).
template <traced W, traced B>
struct with_bias {
  W weight;
  B bias;
  constexpr with_bias(W w, B b) : weight(w), bias(b) {}
};

namespace detail {

template <class W>
inline constexpr bool projects = traced<W>;
template <class W, class B>
inline constexpr bool projects<with_bias<W, B>> = true;
template <class W, class B>
struct judged_by<with_bias<W, B>> {
  using type = W;
};

}  // namespace detail

// A matrix, or with_bias(matrix, bias).
template <class W>
concept projection = detail::projects<W>;

// Computes: x W, or x W + b.
// Shapes:   x[.., in], W[in.., out..], b[out..] -> [.., out..]; b may be given as a third operand.
// Numerics: as dot.
// Errors:   as dot and addition.
template <an_axis auto... In>
inline constexpr auto project = formula<"project(x, W[, b])">(
    [](traced auto x, projection auto w) {
      if constexpr (traced<decltype(w)>)
        return dot<In...>(x, w);
      else
        return dot<In...>(x, w.weight) + w.bias;
    },
    [](traced auto x, traced auto w, traced auto b) { return dot<In...>(x, w) + b; });

}  // namespace qkv
