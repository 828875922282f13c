#pragma once
// The attention of "Attention Is All You Need" (Vaswani et al. 2017), equation 1.
#include <qkv/core/trial.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/mask.hpp>
#include <qkv/ops/softmax.hpp>
#include <qkv/ops/sqrt_size.hpp>

namespace qkv {
namespace detail {

// The scores without what keep, if there is one, does not let through.
template <class... Keep>
constexpr info try_mask(trial &t, const info &scores) {
  if constexpr (sizeof...(Keep) == 1) {
    return t(scores.label, rule::mask{}, scores, of<Keep>...);
  } else {
    return scores;
  }
}

template <class... Keep>
constexpr info try_attention(trial &t, const axes &features, const axes &key, const info &q,
                             const info &k, const info &v) {
  const info scores = try_mask<Keep...>(t, t("scores", rule::dot{features}, q, k));
  return t("attention", rule::dot{key}, t("weights", rule::softmax{key}, scores), v);
}

template <axes Features, axes Key, class Q, class K, class V, class... Keep>
struct scaled_dot_product_check {
  static constexpr text why() {
    trial t;
    try_attention<Keep...>(t, Features, Key, of<Q>, of<K>, of<V>);
    return t.why;
  }
};

template <auto Features, auto Key, class Q, class K, class V, class... Keep>
inline constexpr bool attends =
    passes<scaled_dot_product_check<axes_of<Features>(), axes_of<Key>(), Q, K, V, Keep...>>;
template <auto Features, auto Key, class Q, class K, class V, class... Keep>
using attends_not =
    refusal<scaled_dot_product_check<axes_of<Features>(), axes_of<Key>(), Q, K, V, Keep...>>;

}  // namespace detail

// Computes: softmax(Q K' / sqrt(size(features))) V over the keys that keep lets through.
// Shapes:   Q[.., query, features], K[.., key, features], V[.., key, values] -> [.., query, values]
//           K and V may lack heads that Q has: all query heads then share them (multi-query
//           attention, Shazeer 2019).
// Numerics: as softmax, mask and dot; the scores are not stored.
// Errors:   as softmax, mask and dot.
template <an_axis auto Features, an_axis auto Key, traced Q, traced K, traced V>
  requires detail::attends<Features, Key, Q, K, V>
constexpr auto scaled_dot_product(Q query, K key, V value) {
  return dot<Key>(softmax<Key>(dot<Features>(query, key) / sqrt(Features)), value);
}
template <an_axis auto Features, an_axis auto Key, traced Q, traced K, traced V,
          class Err = detail::attends_not<Features, Key, Q, K, V>>
Err scaled_dot_product(Q, K, V);

template <an_axis auto Features, an_axis auto Key, traced Q, traced K, traced V, traced Keep>
  requires detail::attends<Features, Key, Q, K, V, Keep>
constexpr auto scaled_dot_product(Q query, K key, V value, Keep keep) {
  return dot<Key>(softmax<Key>(mask(dot<Features>(query, key) / sqrt(Features), keep)), value);
}
template <an_axis auto Features, an_axis auto Key, traced Q, traced K, traced V, traced Keep,
          class Err = detail::attends_not<Features, Key, Q, K, V, Keep>>
Err scaled_dot_product(Q, K, V, Keep);

}  // namespace qkv
