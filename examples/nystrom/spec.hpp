// SPDX-License-Identifier: BSL-1.0
#pragma once
// Attention through landmarks (Xiong et al. 2021): means of segments replace the queries and keys.
// Beside it, attention by random features (Choromanski et al. 2021).
#include <qkv/dsl.hpp>

namespace my {
using namespace qkv;
inline constexpr batch_axis<"heads", 4> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_k", 32> d_k;
inline constexpr axis<"d_v", 64> d_v;
inline constexpr axis<"segment"> segment;  // positions of a landmark
inline constexpr axis<"feature"> feature;  // random ones, as many as the call gives
template <int N>
inline constexpr axis<"l", N> l;  // landmarks of the queries
template <int N>
inline constexpr alias<"m", l<N>> m;  // of the keys
template <int N>
inline constexpr alias<"s", l<N>> s;

using queries = in<"Q", heads, seq, d_k>;
using keys = in<"K", heads, kv, d_k>;
using values = in<"V", heads, kv, d_v>;
using result = out<"O", heads, seq, d_v>;

inline constexpr auto full = kernel<"full">(
    [](queries Q, keys K, values V) -> result { return scaled_dot_product<d_k, kv>(Q, K, V); });

template <int N>
inline constexpr auto through = [](queries Q, keys K, values V) -> result {
  return nystrom<d_k, seq, kv, l<N>, m<N>, s<N>, segment>(Q, K, V);
};
inline constexpr auto landmarks_8 = kernel<"landmarks_8">(through<8>);
inline constexpr auto landmarks_16 = kernel<"landmarks_16">(through<16>);
inline constexpr auto landmarks_32 = kernel<"landmarks_32">(through<32>);
inline constexpr auto landmarks_64 = kernel<"landmarks_64">(through<64>);

// exp(q'k) is the mean of exp(w'q - |q|^2 / 2) exp(w'k - |k|^2 / 2) over normal w: linear attention
// of such features, where q and k are divided by d_k^(1/4). Factors that all features of a query
// share cancel in the weights, and so do those that all keys share: |q|^2, the number of features,
// and the maxima, without which exp might overflow.
inline constexpr auto random_features = kernel<"random_features">(
    [](queries Q, keys K, values V, param<"W", feature, d_k> W) -> result {
      auto q = let<"q">(dot<d_k>(Q, W) / sqrt(sqrt(d_k)));
      auto k = let<"k">(dot<d_k>(K, W) / sqrt(sqrt(d_k)) - sum<d_k>(K * K) / (2 * sqrt(d_k)));
      auto of_q = exp(q - max<feature>(q));
      auto of_k = exp(k - max<feature, kv>(k));
      return linear_attention<feature, kv>(of_q, of_k, V);
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   return nystrom<d_k, seq, kv, l<N>, m<N>, s<N>, segment>(Q, Q, V);
//     split<kv, m, segment>: no axis kv in Q
//
//   return nystrom<d_v, seq, kv, l<N>, m<N>, s<N>, segment>(Q, K, V);
//     dot<d_v>: no axis d_v in Q
//
//   auto of_k = exp(k - max<feature, seq>(k));
//     max<feature, seq>: no axis seq in
}  // namespace my
