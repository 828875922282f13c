#pragma once
// The scores of Luong, Pham, Manning 2015, "Effective Approaches to Attention-based Neural Machine
// Translation": dot, general, concat; and what they make of the context.
#include <qkv/core/trial.hpp>
#include <qkv/ops/concat.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>

namespace qkv {
namespace detail {

template <axes Query, axes Key, class H, class W, class S>
struct luong_general_check {
  static constexpr text why() {
    trial t;
    t("scores", rule::dot{Key}, t("dot(h, W)", rule::dot{Query}, of<H>, of<W>), of<S>);
    return t.why;
  }
};

template <axes Over, axes Hidden, class H, class S, class W, class V>
struct luong_concat_check {
  static constexpr text why() {
    trial t;
    const info both = t("concat(h, s)", rule::concat{Over, true}, of<H>, of<S>);
    const info hidden = t("hidden", rule::dot{one_axis(Over[0])}, both, of<W>);
    t("scores", rule::dot{Hidden}, hidden, of<V>);
    return t.why;
  }
};

template <axes Over, class C, class H, class W>
struct luong_output_check {
  static constexpr text why() {
    trial t;
    t("output", rule::dot{one_axis(Over[0])},
      t("concat(context, h)", rule::concat{Over, true}, of<C>, of<H>), of<W>);
    return t.why;
  }
};

}  // namespace detail

// Computes: the scores h's.
// Shapes:   h[.., query, features], s[.., key, features] -> [.., query, key]
// Numerics: as dot.
// Errors:   as dot.
template <an_axis auto Features, traced H, traced S>
  requires detail::fits<detail::rule::dot{axes_of<Features>()}, H, S>
constexpr auto luong_dot(H h, S s) {
  return dot<Features>(h, s);
}
template <an_axis auto Features, traced H, traced S,
          class Err = detail::misfit<detail::rule::dot{axes_of<Features>()}, H, S>>
Err luong_dot(H, S);

// Computes: the scores h'Ws.
// Shapes:   h[.., query, of_query], W[of_query, of_key], s[.., key, of_key] -> [.., query, key]
// Numerics: as dot.
// Errors:   as dot.
template <an_axis auto OfQuery, an_axis auto OfKey, traced H, traced W, traced S>
  requires detail::passes<
      detail::luong_general_check<axes_of<OfQuery>(), axes_of<OfKey>(), H, W, S>>
constexpr auto luong_general(H h, W w, S s) {
  return dot<OfKey>(dot<OfQuery>(h, w), s);
}
template <an_axis auto OfQuery, an_axis auto OfKey, traced H, traced W, traced S,
          class Err = detail::refusal<
              detail::luong_general_check<axes_of<OfQuery>(), axes_of<OfKey>(), H, W, S>>>
Err luong_general(H, W, S);

// Computes: the scores v' tanh(W [h; s]). bahdanau gives the same without a tensor of all pairs,
//           for W in two parts.
// Shapes:   h[.., query, of_query], s[.., key, of_key], W[both, hidden], v[hidden] ->
//           [.., query, key]; both = of_query + of_key
// Numerics: as dot.
// Errors:   as concat and dot.
template <an_axis auto Both, an_axis auto OfQuery, an_axis auto OfKey, an_axis auto Hidden,
          traced H, traced S, traced W, traced V>
  requires detail::passes<
      detail::luong_concat_check<axes_of<Both, OfQuery, OfKey>(), axes_of<Hidden>(), H, S, W, V>>
constexpr auto luong_concat(H h, S s, W w, V v) {
  return dot<Hidden>(tanh(dot<Both>(concat<Both, OfQuery, OfKey>(h, s), w)), v);
}
template <an_axis auto Both, an_axis auto OfQuery, an_axis auto OfKey, an_axis auto Hidden,
          traced H, traced S, traced W, traced V,
          class Err = detail::refusal<detail::luong_concat_check<axes_of<Both, OfQuery, OfKey>(),
                                                                 axes_of<Hidden>(), H, S, W, V>>>
Err luong_concat(H, S, W, V);

// Computes: tanh(W [context; h]): the state that attends.
// Shapes:   context[.., query, of_context], h[.., query, of_query], W[both, out] ->
//           [.., query, out]
// Numerics: as dot.
// Errors:   as concat and dot.
template <an_axis auto Both, an_axis auto OfContext, an_axis auto OfQuery, traced C, traced H,
          traced W>
  requires detail::passes<detail::luong_output_check<axes_of<Both, OfContext, OfQuery>(), C, H, W>>
constexpr auto luong_output(C context, H h, W w) {
  return tanh(dot<Both>(concat<Both, OfContext, OfQuery>(context, h), w));
}
template <
    an_axis auto Both, an_axis auto OfContext, an_axis auto OfQuery, traced C, traced H, traced W,
    class Err =
        detail::refusal<detail::luong_output_check<axes_of<Both, OfContext, OfQuery>(), C, H, W>>>
Err luong_output(C, H, W);

}  // namespace qkv
