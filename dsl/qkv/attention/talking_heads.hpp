#pragma once
// Heads that mix their scores, then their weights (Shazeer, Lan, Cheng, Ding, Hou 2020).
#include <qkv/core/trial.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/softmax.hpp>

namespace qkv {
namespace detail {

template <axes Key, axes Heads, axes Mixed, class S, class P, class W, class V>
struct talking_heads_check {
  static constexpr text why() {
    trial t;
    const info mixed = t("scores", rule::dot{Heads}, of<S>, of<P>);
    const info weights = t("weights", rule::softmax{Key}, mixed);
    t("attention", rule::dot{Key}, t("weights", rule::dot{Mixed}, weights, of<W>), of<V>);
    return t.why;
  }
};

}  // namespace detail

// Computes: (softmax(s P) W) v, P mixing the heads of the scores and W those of the weights.
// Shapes:   s[.., heads, query, key], P[heads, mixed], W[mixed, heads_v], v[.., heads_v, key, values]
//           -> [.., heads_v, query, values]; heads_v may be heads again
// Numerics: as softmax and dot; masked keys have weight 0 if the mask is the same for all heads.
// Errors:   as softmax and dot: P and W are params.
template <an_axis auto Key, an_axis auto Heads, an_axis auto Mixed, traced S, traced P, traced W,
          traced V>
  requires detail::passes<
      detail::talking_heads_check<axes_of<Key>(), axes_of<Heads>(), axes_of<Mixed>(), S, P, W, V>>
constexpr auto talking_heads(S scores, P mix_scores, W mix_weights, V value) {
  return dot<Key>(dot<Mixed>(softmax<Key>(dot<Heads>(scores, mix_scores)), mix_weights), value);
}
template <an_axis auto Key, an_axis auto Heads, an_axis auto Mixed, traced S, traced P, traced W,
          traced V,
          class Err = detail::refusal<detail::talking_heads_check<axes_of<Key>(), axes_of<Heads>(),
                                                                  axes_of<Mixed>(), S, P, W, V>>>
Err talking_heads(S, P, W, V);

}  // namespace qkv
