#pragma once
// Heads that mix their scores, then their weights (Shazeer, Lan, Cheng, Ding, Hou 2020).
#include <qkv/attention/scaled_dot_product.hpp>
#include <qkv/ops/plain.hpp>

namespace qkv {
namespace detail {

template <axes Key, axes Heads, axes Mixed, class S, class P, class W, class V, class... Keep>
struct talking_heads_check {
  static constexpr text why() {
    trial t;
    const info scores = t("scores", rule::dot{Heads}, of<S>, of<P>);
    const info weights = t("weights", rule::softmax{Key}, try_mask<Keep...>(t, scores));
    t("attention", rule::dot{Key}, t("weights", rule::dot{Mixed}, weights, of<W>), of<V>);
    return t.why;
  }
};

template <auto Key, auto Heads, auto Mixed, class... X>
inline constexpr bool talks =
    passes<talking_heads_check<axes_of<Key>(), axes_of<Heads>(), axes_of<Mixed>(), X...>>;
template <auto Key, auto Heads, auto Mixed, class... X>
using talks_not =
    refusal<talking_heads_check<axes_of<Key>(), axes_of<Heads>(), axes_of<Mixed>(), X...>>;

}  // namespace detail

// Computes: (softmax(s P) W) v, P mixing the heads of the scores and W those of the weights, over
//           the keys that keep lets through. The mask is given here: a sum over heads of scores
//           that are masked is a number again.
// Shapes:   s[.., heads, query, key], P[heads, mixed], W[mixed, heads_v],
//           v[.., heads_v, key, values] -> [.., heads_v, query, values]; heads_v may be heads again
// Numerics: as softmax, mask and dot; of a key that keep hides, not even a NaN in its value is
//           seen, unless keep varies along mixed: then that is 0 times NaN.
// Errors:   as softmax, mask and dot: P and W are params.
template <an_axis auto Key, an_axis auto Heads, an_axis auto Mixed, traced S, traced P, traced W,
          traced V>
  requires detail::talks<Key, Heads, Mixed, S, P, W, V>
constexpr auto talking_heads(S scores, P mix_scores, W mix_weights, V value) {
  auto weights = softmax<Key>(dot<Heads>(scores, mix_scores));
  return dot<Key>(dot<Mixed>(weights, mix_weights), value);
}
template <an_axis auto Key, an_axis auto Heads, an_axis auto Mixed, traced S, traced P, traced W,
          traced V, class Err = detail::talks_not<Key, Heads, Mixed, S, P, W, V>>
Err talking_heads(S, P, W, V);

template <an_axis auto Key, an_axis auto Heads, an_axis auto Mixed, traced S, traced P, traced W,
          traced V, traced Keep>
  requires detail::talks<Key, Heads, Mixed, S, P, W, V, Keep>
constexpr auto talking_heads(S scores, P mix_scores, W mix_weights, V value, Keep keep) {
  auto weights = softmax<Key>(mask(dot<Heads>(scores, mix_scores), keep));
  auto mixed = dot<Mixed>(weights, mix_weights);
  // Mixed, the weights are numbers again: the keys that every head hides are hidden anew.
  if constexpr (detail::of<decltype(mixed)>.s.contains(detail::of<Keep>.s))
    return dot<Key>(mask(plain(mixed), keep), value);
  else
    return dot<Key>(mixed, value);
}
template <an_axis auto Key, an_axis auto Heads, an_axis auto Mixed, traced S, traced P, traced W,
          traced V, traced Keep, class Err = detail::talks_not<Key, Heads, Mixed, S, P, W, V, Keep>>
Err talking_heads(S, P, W, V, Keep);

}  // namespace qkv
