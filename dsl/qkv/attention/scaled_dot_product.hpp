#pragma once
// The attention of "Attention Is All You Need" (Vaswani et al. 2017), equation 1.
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/mask.hpp>
#include <qkv/ops/softmax.hpp>
#include <qkv/ops/sqrt_size.hpp>

namespace qkv {
namespace detail {

// What Rule makes of these operands, as an operand of the next.
template <class Rule, class... Info>
constexpr info after(sv label, const Rule &rule, const Info &...x) {
  return {label, rule.shape(x...), rule.meaning(x...), form::tensor};
}

template <axes Features, axes Key, class Q, class K, class V, class... Keep>
struct scaled_dot_product_check {
  static constexpr text why() {
    const rule::dot scores{Features}, result{Key};
    const rule::softmax weights{Key};
    text t = scores.check(of<Q>, of<K>);
    if (!t.empty()) return t;
    info s = after("scores", scores, of<Q>, of<K>);
    if constexpr (sizeof...(Keep) == 1) {
      t = rule::mask{}.check(s, of<Keep>...);
      if (!t.empty()) return t;
      s = after("scores", rule::mask{}, s, of<Keep>...);
    }
    t = weights.check(s);
    return t.empty() ? result.check(after("weights", weights, s), of<V>) : t;
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
