#pragma once
// Attention whose cost grows with the number of keys, not with their pairs (Katharopoulos et al.
// 2020).
#include <qkv/attention/recurrent_attention.hpp>
#include <qkv/core/trial.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/cumsum.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/reduce.hpp>
#include <qkv/ops/where.hpp>
#include <qkv/ops/zeros.hpp>

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

// Keys times values, before the first position.
template <axes Position, axes Values, class K>
inline constexpr auto empty_memory =
    zeros<of<K>.s.without(Position).with(Values), as_float(of<K>.m.type)>();

template <axes Features, axes Position, axes Values, class Q, class K, class V>
struct causal_linear_check {
  static constexpr text why() {
    using state = std::remove_cvref_t<decltype(empty_memory<Position, Values, K>)>;
    const text t = recurrence_check<Features, Position, Values, state, Q, K, V>::why();
    if (!t.empty()) return t;
    trial divisor;
    const info keys = divisor("keys", rule::cumsum{Position}, of<K>);
    divisor("divisor", rule::reduction<op::sum>{Features},
            divisor("products", rule::binary<op::mul>{}, keys, of<Q>));
    return divisor.why;
  }
};

}  // namespace detail

// Computes: elu(x) + 1, the paper's feature map: positive everywhere.
// Shapes:   as x.
// Numerics: f32 or f64; exp(x) below 0, where elu(x) + 1 would cancel.
// Errors:   none.
template <traced X>
constexpr auto elu_plus_one(X x) {
  return where(x > 0, x + 1, exp(x));
}

// Computes: q (k'v) / (q sum of k), of queries and keys that went through a positive feature map:
//           linear_attention<d_k, kv>(elu_plus_one(Q), elu_plus_one(K), V).
// Shapes:   q[.., query, features], k[.., key, features], v[.., key, values] -> [.., query, values]
// Numerics: f32; epsilon is added to the divisor, and 0 / 0 is NaN without one.
// Errors:   as dot: weights made by softmax<features> are not key weights; write
//           plain(softmax<features>(K)).
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

// Computes: the same where each query sees the keys up to its own position: the memory of keys
//           times values is carried along the positions, never stored for each.
// Shapes:   q, k [.., position, features], v[.., position, values] -> [.., position, values]
// Numerics: f32, sums in order; otherwise as linear_attention.
// Errors:   as recurrent_attention: query, key and value share one axis of positions.
template <an_axis auto Features, an_axis auto Position, an_axis auto Values, traced Q, traced K,
          traced V>
  requires detail::passes<detail::causal_linear_check<axes_of<Features>(), axes_of<Position>(),
                                                      axes_of<Values>(), Q, K, V>>
constexpr auto causal_linear_attention(Q query, K key, V value, double epsilon = 0) {
  auto state = detail::empty_memory<axes_of<Position>(), axes_of<Values>(), K>;
  auto divisor = sum<Features>(cumsum<Position>(key) * query) + epsilon;
  return recurrent_attention<Features, Position, Values>(state, query, key, value).result / divisor;
}
template <an_axis auto Features, an_axis auto Position, an_axis auto Values, traced Q, traced K,
          traced V,
          class Err = detail::refusal<detail::causal_linear_check<
              axes_of<Features>(), axes_of<Position>(), axes_of<Values>(), Q, K, V>>>
Err causal_linear_attention(Q, K, V, double = 0);

}  // namespace qkv
