// SPDX-License-Identifier: BSL-1.0
#pragma once
// Attention whose cost grows with the number of keys, not with their pairs (Katharopoulos et al.
// 2020).
#include <qkv/attention/recurrent_attention.hpp>
#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/cumsum.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/filled.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/reduce.hpp>
#include <qkv/ops/where.hpp>

namespace qkv {
namespace detail {

// Keys times values, before the first position.
template <axes Position, axes Values, class K>
inline constexpr auto empty_memory =
    zeros<of<K>.s.without(Position).with(Values), as_float(of<K>.m.type)>();

namespace rule {

// The divisor adds up features, which must be positive.
struct positive {
  constexpr text check(const info &x) const {
    message m;
    for (const sv map : {sv("elu("), sv("tanh("), sv("silu("), sv("gelu(")})
      if (is_call(x.label, map))
        m.say("linear_attention: ", x.label, " may be negative, and the divisor 0")
            .say("did you mean elu_plus_one(..)? if it is meant, let<\"features\">(", x.label, ")")
            .show(x);
    return m;
  }
};

// A feature map goes over queries and keys alike.
struct mapped_alike {
  constexpr text check(const info &query, const info &key) const {
    message m;
    for (const sv map : {sv("elu_plus_one("), sv("relu("), sv("exp(")}) {
      const bool of_query = is_call(query.label, map), of_key = is_call(key.label, map);
      const info &plain = of_query ? key : query;
      if (of_query == of_key || !(plain.m.given || plain.m.projected.made)) continue;
      m.say("linear_attention: ", (of_query ? query : key).label, " went through a feature map, ",
            plain.label, " did not")
          .say("did you mean ", map, plain.label, ")? if it is meant, plain(", plain.label, ")")
          .show(query, key);
    }
    return m;
  }
};

}  // namespace rule
}  // namespace detail

// Computes: elu(x) + 1, the paper's feature map: positive everywhere.
// Shapes:   as x.
// Numerics: f32 or f64; exp(x) below 0, where elu(x) + 1 would cancel.
// Errors:   none.
inline constexpr auto elu_plus_one =
    formula<"elu_plus_one(x)">([](traced auto x) { return where(x > 0, x + 1, exp(x)); });

// Computes: q (k'v) / (q sum of k), of queries and keys that went through a positive feature map:
//           linear_attention<d_k, kv>(elu_plus_one(Q), elu_plus_one(K), V).
// Shapes:   q[.., query, features], k[.., key, features], v[.., key, values] -> [.., query, values]
// Numerics: f32; epsilon is added to the divisor, and 0 / 0 is NaN without one.
// Errors:   as dot: weights made by softmax<features> are not key weights; write
//           plain(softmax<features>(K)); features that may be negative, as elu(K); a feature map
//           over one of query and key alone.
template <an_axis auto Features, an_axis auto Key>
inline constexpr auto linear_attention = formula<"linear_attention(query, key, value[, epsilon])">(
    [](traced auto query, traced auto key, traced auto value, double epsilon = 0) {
      auto mapped = detail::expect<detail::rule::mapped_alike{}>(query, key);
      auto of_query = detail::expect<detail::rule::positive{}>(mapped);
      auto of_key = detail::expect<detail::rule::positive{}>(key);
      auto divisor = dot<Features>(of_query, sum<Key>(of_key)) + epsilon;
      return dot<Features>(of_query, dot<Key>(of_key, value)) / divisor;
    });

// Computes: the same where each query sees the keys up to its own position: the memory of keys
//           times values is carried along the positions, never stored for each.
// Shapes:   q, k [.., position, features], v[.., position, values] -> [.., position, values]
// Numerics: f32, sums in order; otherwise as linear_attention.
// Errors:   as recurrent_attention: query, key and value share one axis of positions.
template <an_axis auto Features, an_axis auto Position, an_axis auto Values>
inline constexpr auto causal_linear_attention =
    formula<"causal_linear_attention(query, key, value[, epsilon])">(
        [](traced auto query, traced auto key, traced auto value, double epsilon = 0) {
          constexpr core::axes position = core::axes_of<Position>(),
                               values = core::axes_of<Values>();
          auto mapped = detail::expect<detail::rule::mapped_alike{}>(query, key);
          auto of_query = detail::expect<detail::rule::positive{}>(mapped);
          auto of_key = detail::expect<detail::rule::positive{}>(key);
          auto state = detail::empty_memory<position, values, decltype(key)>;
          auto divisor = sum<Features>(cumsum<Position>(of_key) * of_query) + epsilon;
          auto sums =
              recurrent_attention<Features, Position, Values>(state, of_query, of_key, value);
          return sums.result / divisor;
        });

}  // namespace qkv
