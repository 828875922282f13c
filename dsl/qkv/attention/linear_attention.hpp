#pragma once
// Attention whose cost grows with the number of keys, not with their pairs (Katharopoulos et al.
// 2020).
#include <qkv/core/trial.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/broadcast.hpp>
#include <qkv/ops/cumsum.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/reduce.hpp>

namespace qkv {
namespace detail {

template <axes Features, axes Key, class Q, class K, class V>
struct linear_attention_check {
  static constexpr text why() {
    trial t;
    t("result", rule::dot{Features}, of<Q>, t("state", rule::dot{Key}, of<K>, of<V>));
    t("divisor", rule::dot{Features}, of<Q>, t("sum", rule::reduction<op::sum>{Key}, of<K>));
    return t.why;
  }
};

template <axes Features, axes Position, axes Values, class Q, class K, class V>
struct causal_linear_check {
  static constexpr text why() {
    trial t;
    const rule::binary<op::mul> times;
    const info pairs = t("pairs", times, t("keys", rule::broadcast{Values}, of<K>),
                         t("values", rule::broadcast{Features}, of<V>));
    const info state = t("state", rule::cumsum{Position}, pairs);
    t("result", rule::reduction<op::sum>{Features}, t("products", times, state, of<Q>));
    const info keys = t("keys", rule::cumsum{Position}, of<K>);
    t("divisor", rule::reduction<op::sum>{Features}, t("products", times, keys, of<Q>));
    return t.why;
  }
};

}  // namespace detail

// Computes: elu(x) + 1, the paper's feature map: positive everywhere.
// Shapes:   as x.
// Numerics: f32.
// Errors:   none.
template <traced X>
constexpr auto elu_plus_one(X x) {
  return elu(x) + 1;
}

// Computes: q (k'v) / (q sum of k), of queries and keys that went through a positive feature map:
//           linear_attention<d_k, kv>(elu_plus_one(Q), elu_plus_one(K), V).
// Shapes:   q[.., query, features], k[.., key, features], v[.., key, values] -> [.., query, values]
// Numerics: f32; epsilon is added to the divisor, and 0 / 0 is NaN without one.
// Errors:   as dot: weights made by softmax<features> are no key weights, plain(softmax<features>(K)).
template <an_axis auto Features, an_axis auto Key, traced Q, traced K, traced V>
  requires detail::passes<
      detail::linear_attention_check<axes_of<Features>(), axes_of<Key>(), Q, K, V>>
constexpr auto linear_attention(Q query, K key, V value, double epsilon = 0) {
  auto divisor = dot<Features>(query, sum<Key>(key)) + epsilon;
  return dot<Features>(query, dot<Key>(key, value)) / divisor;
}
template <an_axis auto Features, an_axis auto Key, traced Q, traced K, traced V,
          class Err = detail::refusal<
              detail::linear_attention_check<axes_of<Features>(), axes_of<Key>(), Q, K, V>>>
Err linear_attention(Q, K, V, double = 0);

// Computes: the same where each query sees the keys up to its own position, by prefix sums of k'v.
// Shapes:   q, k [.., position, features], v[.., position, values] -> [.., position, values]
// Numerics: f32, sums in order; otherwise as linear_attention.
// Errors:   as cumsum and multiplication: query, key and value share one axis of positions.
template <an_axis auto Features, an_axis auto Position, an_axis auto Values, traced Q, traced K,
          traced V>
  requires detail::passes<detail::causal_linear_check<axes_of<Features>(), axes_of<Position>(),
                                                      axes_of<Values>(), Q, K, V>>
constexpr auto causal_linear_attention(Q query, K key, V value, double epsilon = 0) {
  auto state = cumsum<Position>(broadcast<Values>(key) * broadcast<Features>(value));
  auto divisor = sum<Features>(cumsum<Position>(key) * query) + epsilon;
  return sum<Features>(state * query) / divisor;
}
template <an_axis auto Features, an_axis auto Position, an_axis auto Values, traced Q, traced K,
          traced V,
          class Err = detail::refusal<detail::causal_linear_check<
              axes_of<Features>(), axes_of<Position>(), axes_of<Values>(), Q, K, V>>>
Err causal_linear_attention(Q, K, V, double = 0);

}  // namespace qkv
