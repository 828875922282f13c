// SPDX-License-Identifier: BSL-1.0
#pragma once
// Softmax attention, and linear attention with the feature map elu + 1 (Katharopoulos et al. 2020):
// n * n * d against n * d * d.
#include <qkv/dsl.hpp>

namespace my {
using namespace qkv;
inline constexpr batch_axis<"heads", 8> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_k", 64> d_k;
inline constexpr axis<"d_v", 64> d_v;

using queries = in<"Q", heads, seq, d_k>;
using keys = in<"K", heads, kv, d_k>;
using values = in<"V", heads, kv, d_v>;
using result = out<"O", heads, seq, d_v>;

inline constexpr auto softmax_attention =
    kernel<"softmax_attention">([](queries Q, keys K, values V) -> result {
      return dot<kv>(softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k)), V);
    });

constexpr auto features(auto x) { return elu(x) + 1.f; }

// phi(Q) (phi(K)' V) / phi(Q) sum phi(K). Written as weights times values, as the formula of
// softmax is: the order in which the three factors are contracted is found by cost.
inline constexpr auto linear_attention =
    kernel<"linear_attention">([](queries Q, keys K, values V) -> result {
      auto q = features(Q);
      auto k = features(K);
      return dot<kv>(dot<d_k>(q, k), V) / dot<d_k>(q, sum<kv>(k));
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   auto k = features(V);
//     dot<d_k>: no axis d_k in
//
//   return dot<seq>(softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k)), V);
//     dot<seq>: no axis seq in V
}  // namespace my
