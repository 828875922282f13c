// SPDX-License-Identifier: BSL-1.0
// Treatments of a step along an axis that another step contradicts are refused, and right
// neighbours are not.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr in<"S", batch, heads, seq, kv> S;
constexpr in<"Vk", batch, heads, kv, d_v> Vk;
constexpr axis<"two", 2> two;
constexpr axis<"half", 32> half;
constexpr auto weights = step<decltype(softmax<kv>(S))>;

// masks that take different lengths
constexpr in<"n_past", i32, batch> n_past;
constexpr in<"n_swa", i32, batch> n_swa;
static_assert(
    says<decltype(TYPE(cached_causal<seq, kv>(n_past)) && TYPE(sliding_window<seq, kv>(9, n_swa)))>(
        "and: cached_causal<seq, kv> takes the length n_past, but sliding_window<seq, kv> takes "
        "n_swa give both one length; if they are equal, let<\"length\">(..) of each "
        "cached_causal<seq, kv>[kv, seq, batch] sliding_window<seq, kv>[seq, batch, kv]"));
static_assert(!refused<decltype(TYPE(cached_causal<seq, kv>(n_past)) &&
                                TYPE(sliding_window<seq, kv>(9, n_past)))> &&
              !refused<decltype(TYPE(cached_causal<seq, kv>(let<"length">(n_past))) &&
                                TYPE(sliding_window<seq, kv>(9, let<"length">(n_swa))))>);
// a divisor whose terms are not those of the numerator
constexpr auto seen = step<decltype(mask(S, causal<seq, kv>))>;
constexpr auto shifted_seen = step<decltype(exp(TYPE(seen - max<kv>(seen))))>;
constexpr auto shifted_all = step<decltype(exp(TYPE(S - max<kv>(S))))>;
static_assert(says<decltype(shifted_seen / TYPE(sum<kv>(shifted_all)))>(
    "/: exp(..) leaves out what a mask hides, but sum(exp(S - max(S))) does not give both the same "
    "scores; if it is meant, let<\"total\">(sum(exp(S - max(S)))) exp(..)[batch, heads=8, seq, kv] "
    "sum(exp(S - max(S)))[batch, heads=8, seq]"));
static_assert(says<decltype(TYPE(dot<kv>(exp(S), Vk)) / TYPE(sum<kv>(shifted_all)))>(
    "/: sum(exp(S - max(S))) had the maximum subtracted, but dot(exp(S), Vk) had not give both the "
    "same scores; if it is meant, let<\"total\">(sum(exp(S - max(S)))) dot(exp(S), Vk)[batch, "
    "heads=8, seq, d_v=32] sum(exp(S - max(S)))[batch, heads=8, seq]"));
static_assert(says<decltype(seen - TYPE(logsumexp<kv>(S)))>(
    "-: mask(S, causal<seq, kv>) is masked along kv, but what logsumexp(S) adds up is not give "
    "both the same scores; if it is meant, let<\"total\">(logsumexp(S)) mask(S, causal<seq, "
    "kv>)[batch, heads=8, seq, kv] logsumexp(S)[batch, heads=8, seq]"));
static_assert(!refused<decltype(shifted_seen / TYPE(sum<kv>(shifted_seen)))> &&
              !refused<decltype(TYPE(dot<kv>(shifted_seen, Vk)) / TYPE(sum<kv>(shifted_seen)))> &&
              !refused<decltype(shifted_seen / let<"total">(TYPE(sum<kv>(shifted_all))))> &&
              !refused<decltype(seen - TYPE(logsumexp<kv>(seen)))> &&
              !refused<decltype(S - TYPE(logsumexp<kv>(seen)))> &&
              !refused<decltype(seen - let<"total">(TYPE(logsumexp<kv>(S))))>);
// squares of distances from a mean over another axis
constexpr auto centred = step<decltype(Q - mean<seq>(Q))>;
static_assert(says<decltype(mean<d_k>(TYPE(centred * centred)))>(
    "mean<d_k>: (Q - mean(Q)) * (Q - mean(Q)) are squares of distances from the mean over seq did "
    "you mean mean<seq>(..) here, or mean<d_k>(..) in the difference? if it is meant, plain(..) (Q "
    "- mean(Q)) * (Q - mean(Q))[batch, heads=8, seq, d_k=64]"));
static_assert(!refused<decltype(mean<seq>(TYPE(centred * centred)))> &&
              !refused<decltype(mean<d_k>(plain(TYPE(centred * centred))))> &&
              !refused<decltype(mean<d_k>(centred))>);
// a variance with its sign exchanged
constexpr auto of_mean = step<decltype(mean<d_k>(Q))>;
constexpr auto of_square = step<decltype(mean<d_k>(TYPE(Q * Q)))>;
static_assert(says<decltype(TYPE(of_mean * of_mean) - of_square)>(
    "-: mean(Q) * mean(Q) is never more than mean(Q * Q), so this is a negative variance did you "
    "mean mean(Q * Q) - mean(Q) * mean(Q)? if it is meant, let<\"square\">(mean(Q) * mean(Q)) "
    "mean(Q) * mean(Q)[batch, heads=8, seq] mean(Q * Q)[batch, heads=8, seq]"));
static_assert(!refused<decltype(of_square - TYPE(of_mean * of_mean))> &&
              !refused<decltype(TYPE(of_mean * of_mean) - let<"power">(of_square))>);
// weights divided by a temperature
constexpr in<"temperature"> temperature;
static_assert(says<decltype(weights / temperature)>(
    "/: softmax(S) holds weights over kv, which no longer add up to 1 divide the scores by "
    "temperature; if it is meant, plain(..) of the weights softmax(S)[batch, heads=8, seq, kv] "
    "temperature[]"));
static_assert(!refused<decltype(softmax<kv>(TYPE(S / temperature)))> &&
              !refused<decltype(plain(weights) / temperature)> && !refused<decltype(weights / 2)>);
// gamma and beta exchanged
constexpr param<"gamma", d_k> gamma;
constexpr param<"beta", d_k> beta;
static_assert(says<decltype(layer_norm<d_k>(Q, beta, gamma))>(
    "layer_norm: beta is in the place of the gamma, gamma in that of the beta it takes "
    "layer_norm(x[, gamma[, beta]][, epsilon]); if it is meant, let<\"gamma\">(beta)"));
static_assert(!refused<decltype(layer_norm<d_k>(Q, gamma, beta))> &&
              !refused<decltype(layer_norm<d_k>(Q, let<"gamma">(beta), let<"beta">(gamma)))>);
// unit length over positions
static_assert(says<decltype(dot<d_k>(TYPE(unit_length<seq>(Q)), TYPE(unit_length<kv>(K))))>(
    "dot<d_k>: unit_length(Q) has unit length over seq did you mean unit_length<d_k>? if it is "
    "meant, plain(unit_length(Q)) unit_length(Q)[batch, heads=8, seq, d_k=64] "
    "unit_length(K)[batch, heads=8, kv, d_k=64]"));
static_assert(says<decltype(dot<d_k>(TYPE(unit_length<d_k>(Q)), TYPE(unit_length<kv>(K))))>(
    "dot<d_k>: unit_length(K) has unit length over kv did you mean unit_length<d_k>? if it is "
    "meant, plain(unit_length(K)) unit_length(Q)[batch, heads=8, seq, d_k=64] "
    "unit_length(K)[batch, heads=8, kv, d_k=64]"));
static_assert(
    !refused<decltype(dot<d_k>(TYPE(unit_length<d_k>(Q)), TYPE(unit_length<d_k>(K))))> &&
    !refused<decltype(dot<seq>(TYPE(unit_length<seq>(Q)), TYPE(unit_length<seq>(Vq))))> &&
    !refused<decltype(dot<seq>(TYPE(unit_length<d_k>(Kq)), TYPE(unit_length<d_v>(Vq))))> &&
    !refused<decltype(dot<d_k>(plain(TYPE(unit_length<seq>(Q))), TYPE(unit_length<kv>(K))))>);
// keys that are not rotated
constexpr param<"Wk", heads, d_model, d_k> Wk;
constexpr in<"M", batch, kv, d_model> M;
constexpr auto angle = rope_angle<seq, half>();
constexpr auto turned = step<decltype(rope<d_k, two, half>(Q, cos(angle), sin(angle)))>;
constexpr auto projected = step<decltype(project<d_model>(M, Wk))>;
static_assert(says<decltype(dot<d_k>(turned, projected))>(
    "dot<d_k>: rope(Q, cos(..), sin(..)) was rotated by its positions, but project(M, Wk) was not "
    "rotate both; if it is meant, plain(rope(Q, cos(..), sin(..))) rope(Q, cos(..), "
    "sin(..))[batch, heads=8, seq, d_k=64] project(M, Wk)[batch, kv, heads=8, d_k=64]"));
static_assert(!refused<decltype(dot<d_k>(turned, K))> &&
              !refused<decltype(dot<d_k>(plain(turned), projected))> &&
              !refused<decltype(dot<d_k>(
                  turned, TYPE(rope<d_k, two, half>(projected, cos(rope_angle<kv, half>()),
                                                    sin(rope_angle<kv, half>())))))>);
// queries rotated from 0 beside a cache
constexpr auto rotated_scores = step<decltype(TYPE(dot<d_k>(turned, K)) / sqrt(d_k))>;
static_assert(says<decltype(mask(rotated_scores, TYPE(cached_causal<seq, kv>(n_past))))>(
    "mask: seq was rotated by positions from 0, but cached_causal<seq, kv> places it at the end of "
    "a cache take cos and sin from tables at length - size(seq) + index(seq); if it is meant, "
    "plain(..) of the scores dot(rope(..), K) / sqrt(d_k)[batch, heads=8, seq, kv]"));
static_assert(
    !refused<decltype(mask(rotated_scores, causal<seq, kv>))> &&
    !refused<decltype(mask(plain(rotated_scores), TYPE(cached_causal<seq, kv>(n_past))))>);

// one pairs neighbours, the other halves
constexpr auto neighbours = step<decltype(rope_interleaved<d_k, two, half>(
    K, cos(rope_angle<kv, half>()), sin(rope_angle<kv, half>())))>;
static_assert(says<decltype(dot<d_k>(turned, neighbours))>(
    "dot<d_k>: rope(Q, cos(..), sin(..)) was rotated in pairs of halves, rope_interleaved(K, "
    "cos(..), sin(..)) in pairs of neighbours use one of rope and rope_interleaved; if it is "
    "meant, plain(rope(Q, cos(..), sin(..))) rope(Q, cos(..), sin(..))[batch, heads=8, seq, "
    "d_k=64] rope_interleaved(K, cos(..), sin(..))[batch, heads=8, kv, d_k=64]"));
static_assert(!refused<decltype(dot<d_k>(plain(turned), neighbours))>);
// values that are rotated
constexpr axis<"quarter", 16> quarter;
constexpr auto turned_values = step<decltype(rope<d_v, two, quarter>(
    Vk, cos(rope_angle<kv, quarter>()), sin(rope_angle<kv, quarter>())))>;
static_assert(says<decltype(dot<kv>(weights, turned_values))>(
    "dot<kv>: the values rope(Vk, cos(..), sin(..)) were rotated by their positions rotate queries "
    "and keys alone; if it is meant, plain(..) of the values rope(Vk, cos(..), sin(..))[batch, "
    "heads=8, kv, d_v=32]"));
static_assert(!refused<decltype(dot<kv>(weights, plain(turned_values)))>);

}  // namespace
