// SPDX-License-Identifier: BSL-1.0
#pragma once
// Chains of contractions whose cheapest order depends on sizes of the call.
#include <qkv/dsl.hpp>

namespace orders {
using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 2> heads;
inline constexpr axis<"seq"> seq;
inline constexpr axis<"mem"> mem;
inline constexpr axis<"d_k", 48> d_k;
inline constexpr axis<"d_v", 40> d_v;
inline constexpr axis<"latent", 64> latent;
inline constexpr axis<"rank", 8> rank;

using Q_ = in<"Q", batch, heads, seq, d_k>;
using O_ = out<"O", batch, heads, seq, d_v>;

// Linear attention: few queries look at keys, many read what keys hold.
inline constexpr auto linear_either_way = kernel<"linear_either_way">(
    [](Q_ Q, in<"K", batch, heads, mem, d_k> K, in<"V", batch, heads, mem, d_v> V) -> O_ {
      return dot<mem>(dot<d_k>(Q, K), V);
    });

// Keys and values of few numbers, widened by params: once for all keys, or for the queries where
// those are fewer.
inline constexpr auto absorbed =
    kernel<"absorbed">([](Q_ Q, in<"C", batch, mem, latent> C, param<"Wk", latent, heads, d_k> Wk,
                          param<"Wv", latent, heads, d_v> Wv, in<"len", i32, batch> len) -> O_ {
      auto s = dot<d_k>(Q, dot<latent>(C, Wk)) / sqrt(d_k);
      return dot<mem>(softmax<mem>(mask(s, index(mem) < len)), dot<latent>(C, Wv));
    });

// Values of low rank.
inline constexpr auto low_rank_values = kernel<"low_rank_values">(
    [](Q_ Q, in<"K", batch, heads, mem, d_k> K, in<"U", batch, heads, mem, rank> U,
       param<"A", rank, d_v> A) -> O_ {
      return dot<mem>(softmax<mem>(dot<d_k>(Q, K) / sqrt(d_k)), dot<rank>(U, A));
    });

}  // namespace orders
