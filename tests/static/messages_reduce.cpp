// SPDX-License-Identifier: BSL-1.0
// Every text of sum, max, min, mean, logsumexp.
#include "spec.hpp"

namespace {

using namespace spec;

// an axis that is missing
static_assert(says<decltype(sum<mem>(scores))>(
    "sum<mem>: no axis mem in dot(Q, K) dot(Q, K)[batch, heads=8, seq, kv]"));
// max
static_assert(says<decltype(max<mem>(scores))>(
    "max<mem>: no axis mem in dot(Q, K) dot(Q, K)[batch, heads=8, seq, kv]"));
// min
static_assert(says<decltype(min<mem>(scores))>(
    "min<mem>: no axis mem in dot(Q, K) dot(Q, K)[batch, heads=8, seq, kv]"));
// mean
static_assert(says<decltype(mean<kv, mem>(scores))>(
    "mean<kv, mem>: no axis mem in dot(Q, K) dot(Q, K)[batch, heads=8, seq, kv]"));
// logsumexp
static_assert(says<decltype(logsumexp<mem>(scores))>(
    "logsumexp<mem>: no axis mem in dot(Q, K) dot(Q, K)[batch, heads=8, seq, kv]"));
// no axis
static_assert(says<decltype(sum<>(scores))>(
    "sum: names no axis did you mean sum<kv>(dot(Q, K))? dot(Q, K)[batch, heads=8, seq, kv]"));
// max
static_assert(says<decltype(max<>(scores))>(
    "max: names no axis did you mean max<kv>(dot(Q, K))? dot(Q, K)[batch, heads=8, seq, kv]"));
// min
static_assert(says<decltype(min<>(scores))>(
    "min: names no axis did you mean min<kv>(dot(Q, K))? dot(Q, K)[batch, heads=8, seq, kv]"));
// mean
static_assert(says<decltype(mean<>(scores))>(
    "mean: names no axis did you mean mean<kv>(dot(Q, K))? dot(Q, K)[batch, heads=8, seq, kv]"));
// logsumexp
static_assert(says<decltype(logsumexp<>(scores))>(
    "logsumexp: names no axis did you mean logsumexp<kv>(dot(Q, K))? dot(Q, K)[batch, heads=8, "
    "seq, kv]"));
static_assert(!refused<decltype(sum<kv>(index(kv)))>);
static_assert(!refused<decltype(max<kv>(index(kv)))>);
static_assert(!refused<decltype(min<kv>(index(kv)))>);
static_assert(!refused<decltype(mean<kv>(index(kv)))>);
static_assert(!refused<decltype(logsumexp<kv>(index(kv)))>);

}  // namespace
