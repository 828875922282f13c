#pragma once
// A projection: a matrix, with or without a bias.
#include <qkv/core/trial.hpp>
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
struct projection_of {
  static constexpr info apply(trial &t, sv label, const axes &in, const info &x) {
    return t(label, rule::dot{in}, x, of<W>);
  }
};
template <class W, class B>
struct projection_of<with_bias<W, B>> {
  static constexpr info apply(trial &t, sv label, const axes &in, const info &x) {
    return t(label, rule::binary<op::add>{}, t(label, rule::dot{in}, x, of<W>), of<B>);
  }
};

template <class W>
inline constexpr bool projects = traced<W>;
template <class W, class B>
inline constexpr bool projects<with_bias<W, B>> = true;

template <axes In, class X, class W>
struct project_check {
  static constexpr text why() {
    trial t;
    projection_of<W>::apply(t, "projection", In, of<X>);
    return t.why;
  }
};

}  // namespace detail

// A matrix, or with_bias(matrix, bias).
template <class W>
concept projection = detail::projects<W>;

// Computes: x W, or x W + b.
// Shapes:   x[.., in], W[in.., out..], b[out..] -> [.., out..]
// Numerics: as dot.
// Errors:   as dot and addition.
template <an_axis auto... In, traced X, projection W>
  requires detail::passes<detail::project_check<axes_of<In...>(), X, W>>
constexpr auto project(X x, W w) {
  if constexpr (traced<W>) {
    return dot<In...>(x, w);
  } else {
    return dot<In...>(x, w.weight) + w.bias;
  }
}
template <an_axis auto... In, traced X, projection W,
          class Err = detail::refusal<detail::project_check<axes_of<In...>(), X, W>>>
Err project(X, W);

}  // namespace qkv
