// SPDX-License-Identifier: BSL-1.0
#pragma once
// Several sums over the keys of the same pairs: one walk feeds them all.
#include <qkv/dsl.hpp>

namespace sums {
using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 3> heads;
inline constexpr axis<"seq"> seq;
inline constexpr axis<"mem"> mem;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_k", 32> d_k;
inline constexpr axis<"d_v", 64> d_v;
inline constexpr axis<"odd_k", 20> odd_k;
inline constexpr axis<"odd_v", 28> odd_v;
inline constexpr axis<"any_k"> any_k;
inline constexpr axis<"any_v"> any_v;
inline constexpr axis<"few", 3> few;
inline constexpr axis<"joined"> joined;

using Q_ = in<"Q", batch, heads, seq, d_k>;
using G_ = in<"G", batch, heads, seq, d_v>;     // the gradient of the result
using lse_ = in<"lse", batch, heads, seq>;      // of the scores
using total_ = in<"total", batch, heads, seq>;  // sum over d_v of G times the result

// The gradients of the queries and of a bias per query: a sum without columns.
inline constexpr auto rows_of_gradient = kernel<"rows_of_gradient">(
    [](Q_ Q, in<"K", batch, heads, mem, d_k> K, in<"V", batch, heads, mem, d_v> V, G_ G, lse_ lse,
       total_ total) -> outs<out<"dQ", batch, heads, seq, d_k>, out<"dbias", batch, heads, seq>> {
      auto p = exp(dot<d_k>(Q, K) / sqrt(d_k) - lse);
      auto ds = p * (dot<d_v>(G, V) - broadcast<mem>(total));
      return {dot<mem>(ds, K) / sqrt(size(d_k)), sum<mem>(ds)};
    });

// The gradients of keys and values, which are sums over the queries, under a causal mask.
inline constexpr auto keys_of_gradient = kernel<"keys_of_gradient">(
    [](Q_ Q, in<"K", batch, heads, kv, d_k> K, in<"V", batch, heads, kv, d_v> V, G_ G, lse_ lse,
       total_ total) -> outs<out<"dK", batch, heads, kv, d_k>, out<"dV", batch, heads, kv, d_v>> {
      auto p = exp(mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, kv>) - lse);
      auto ds = p * (dot<d_v>(G, V) - broadcast<kv>(total));
      return {dot<seq>(ds, Q) / sqrt(size(d_k)), dot<seq>(p, G)};
    });

// All of it: two walks over the pairs, since sums over keys and over queries do not share one.
inline constexpr auto gradient_by_hand = kernel<"gradient_by_hand">(
    [](in<"Q", batch, seq, odd_k> Q, in<"K", batch, mem, odd_k> K, in<"V", batch, mem, odd_v> V,
       in<"G", batch, seq, odd_v> G)
        -> outs<out<"O", batch, seq, odd_v>, out<"dQ", batch, seq, odd_k>,
                out<"dK", batch, mem, odd_k>, out<"dV", batch, mem, odd_v>> {
      auto s = dot<odd_k>(Q, K) / sqrt(odd_k);
      auto O = dot<mem>(softmax<mem>(s), V);
      auto p = exp(s - broadcast<mem>(logsumexp<mem>(s)));
      auto ds = p * (dot<odd_v>(G, V) - broadcast<mem>(sum<odd_v>(G * O)));
      return {O, dot<mem>(ds, K) / sqrt(size(odd_k)), dot<seq>(ds, Q) / sqrt(size(odd_k)),
              dot<seq>(p, G)};
    });

// A step between the product and both sums that costs more than a load: tanh of the cap. The call
// decides the widths.
inline constexpr auto capped_gradient = kernel<"capped_gradient">(
    [](in<"Q", seq, any_k> Q, in<"K", mem, any_k> K, in<"V", mem, any_v> V, in<"G", seq, any_v> G,
       in<"lse", seq> lse,
       in<"total", seq> total) -> outs<out<"dK", mem, any_k>, out<"dV", mem, any_v>> {
      auto t = tanh(dot<any_k>(Q, K) / 8.f);
      auto p = exp(t - broadcast<mem>(abs(lse)));
      auto ds = p * (dot<any_v>(G, V) - broadcast<mem>(total)) * (1.f - t * t);
      return {dot<seq>(ds, Q), dot<seq>(p, G)};
    });

// Pairs that nothing normalises: a sum of them alone, and with one number per key.
inline constexpr auto sums_of_pairs = kernel<"sums_of_pairs">(
    [
    ](in<"Q", batch, seq, d_k> Q, in<"K", batch, mem, d_k> K, in<"v", batch, mem> v,
      in<"keep", b8, batch, mem> keep) -> outs<out<"all", batch, seq>, out<"weighed", batch, seq>> {
      auto p = mask(sigmoid(dot<d_k>(Q, K)), keep);
      return {sum<mem>(p), dot<mem>(p, v)};
    });
inline constexpr auto one_sum_of_pairs = kernel<"one_sum_of_pairs">(
    [](in<"Q", batch, seq, d_k> Q, in<"K", batch, mem, d_k> K) -> out<"all", batch, seq> {
      return sum<mem>(relu(dot<d_k>(Q, K)));
    });

// Values of several widths under one softmax, with numbers per key, gates and the logsumexp.
inline constexpr auto values_of_three = kernel<"values_of_three">(
    [](Q_ Q, in<"K", batch, heads, mem, d_k> K, in<"V", batch, heads, mem, d_v> V,
       in<"U", batch, heads, mem, odd_v> U, in<"x", batch, heads, mem> x,
       in<"gate", batch, heads, seq, mem> gate, in<"keep", b8, batch, mem> keep)
        -> outs<out<"O", batch, heads, seq, d_v>, out<"P", batch, heads, seq, odd_v>,
                out<"y", batch, heads, seq>, out<"z", batch, heads, seq>,
                out<"lse", batch, heads, seq>> {
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), keep);
      auto w = softmax<mem>(s);
      auto gated = w * sigmoid(gate);
      return {dot<mem>(w, V), dot<mem>(gated, U), dot<mem>(w, x), sum<mem>(gated),
              logsumexp<mem>(s)};
    });

// The same weights, normalised without a maximum.
inline constexpr auto shares_of_two = kernel<"shares_of_two">(
    [](in<"Q", seq, d_k> Q, in<"K", mem, d_k> K, in<"V", mem, odd_v> V,
       in<"U", mem, odd_v> U) -> outs<out<"O", seq, odd_v>, out<"P", seq, odd_v>> {
      auto w = normalize<mem>(relu(dot<d_k>(Q, K)) + 0.25f);
      return {dot<mem>(w, V), dot<mem>(w, U)};
    });

// Products of values depend on each other: two walks.
inline constexpr auto values_of_values =
    kernel<"values_of_values">([](in<"Q", batch, seq, d_k> Q, in<"K", batch, kv, d_k> K,
                                  in<"V", batch, kv, d_v> V) -> out<"O", batch, seq, d_v> {
      auto w = softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k));
      return dot<kv>(w, rename<seq, kv>(dot<kv>(w, V)));
    });

// Scores of one softmax are a step of another's, and that is stored: so are the scores.
inline constexpr auto stored_scores = kernel<"stored_scores">(
    [](in<"q", d_k> q, in<"K", mem, d_k> K, in<"x", mem> x) -> outs<out<"s", mem>, out<"y">> {
      auto s = dot<d_k>(q, K);
      auto halves = s * 0.5;
      return {halves, dot<mem>(softmax<mem>(s) - softmax<mem>(halves), x)};
    });

// Scores of one sum are numbers per query of another one, which reads them from memory.
inline constexpr auto scores_or_rows =
    kernel<"scores_or_rows">([](in<"q", d_k> q, in<"K", mem, d_k> K, in<"X", seq, d_k> X,
                                in<"x", mem> x) -> outs<out<"y">, out<"z", seq>> {
      auto s = dot<d_k>(q, K);
      auto pairs = where(s < 0.f, dot<d_k>(X, K), -1.f);
      return {dot<mem>(softmax<mem>(s), x), dot<mem>(plain(pairs), x)};
    });

// In one order of contractions, the weights of a walk are the values of the other one.
inline constexpr auto weights_or_values = kernel<"weights_or_values">(
    [](in<"z", mem> z, in<"X", mem, odd_k> X, in<"W", seq, odd_k> W) -> out<"y", seq> {
      return dot<mem>(softmax<mem>(z), dot<odd_k>(X, W));
    });

// Weights of one sum are values of another, which weighs them by others.
inline constexpr auto weights_of_weights = kernel<"weights_of_weights">(
    [](in<"q", d_k> q, in<"K", mem, d_k> K, in<"x", mem> x) -> outs<out<"y">, out<"z">> {
      auto s = dot<d_k>(q, K);
      auto cool = softmax<mem>(s * 0.5);
      return {dot<mem>(cool, x), dot<mem>(softmax<mem>(s), cool)};
    });

// Pairs of one sum are read at other positions by the scores of another.
inline constexpr auto joined_scores = kernel<"joined_scores">(
    [](in<"Q", seq, d_k> Q, in<"K", batch, mem, d_k> K, in<"X", few, mem> X,
       in<"x", mem> x) -> outs<out<"y", seq, batch>, out<"O", joined, seq, few>> {
      auto s = dot<d_k>(Q, K);
      auto w = softmax<mem>(concat<joined, few, batch>(X, s));
      return {dot<mem>(plain(relu(s)), x), dot<mem>(w, X)};
    });

}  // namespace sums
