// SPDX-License-Identifier: BSL-1.0
// Texts of the masks, biases, norms and rotations of attention/ that they do not take from the
// operations.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr axis<"two", 2> two;
constexpr axis<"half", 32> half;
constexpr axis<"front", 16> front;
constexpr axis<"rest", 40> rest;
constexpr axis<"buckets", 32> buckets;
constexpr param<"cos", seq, half> c;
constexpr param<"sin", seq, half> s;
constexpr param<"cos", mem, half> c_mem;
constexpr param<"table", heads, buckets> table;
constexpr param<"slope", heads> slope;
constexpr in<"id", i32, batch, seq> id;
constexpr in<"M", batch, heads, mem, d_k> M;

// masks between axes of unrelated size
static_assert(says<decltype(dilated<seq, mem>(2))>(
    "dilated<seq, mem>: the sizes of seq and mem are unrelated say dilated<seq, mem, align::first> "
    "or align::last; over a cache, dilated<seq, mem>(step, length)"));
static_assert(says<decltype(global_window<seq, mem>(2, 1))>(
    "global_window<seq, mem>: the sizes of seq and mem are unrelated say global_window<seq, mem, "
    "align::first> or align::last; over a cache, global_window<seq, mem>(width, globals, length)"));
static_assert(says<decltype(mask(step<decltype(dot<d_k>(Q, M))>, prefix<seq, mem>(length)))>(
    "prefix<seq, mem>: the sizes of seq and mem are unrelated say prefix<seq, mem, align::first> "
    "or align::last; over a cache, cached_causal dot(Q, M)[batch, heads=8, seq, mem]"));
// a prefix with query and key swapped
static_assert(says<decltype(softmax<kv>(step<decltype(mask(scores, prefix<kv, seq>(length)))>))>(
    "softmax<kv>: prefix<kv, seq> takes seq as its keys did you mean prefix<seq, kv>? mask(dot(Q, "
    "K), prefix<kv, seq>)[batch, heads=8, seq, kv]"));
// documents of an axis that the numbers lack
static_assert(
    says<decltype(document<mem, kv>(id))>("rename<mem, kv>: no axis mem in id id[batch, seq]"));
// biases between axes of unrelated size
static_assert(says<decltype(alibi<seq, mem>(slope))>(
    "alibi<seq, mem>: the sizes of seq and mem are unrelated say alibi<seq, mem, align::first> or "
    "align::last; over a cache, alibi<seq, mem>(slope, length)"));
static_assert(says<decltype(relative_bias<seq, mem, buckets>(table))>(
    "relative_bias<seq, mem>: the sizes of seq and mem are unrelated say relative_bias<seq, mem, "
    "align::first> or align::last; over a cache, relative_bias<seq, mem, ..>(table, length)"));
// a table without its axis
static_assert(says<decltype(relative_bias<seq, kv, buckets>(slope))>(
    "relative_bias<seq, kv, buckets>: no axis buckets in slope slope[heads=8]"));
static_assert(says<decltype(t5_bias<seq, kv, buckets>(slope))>(
    "t5_bias<seq, kv, buckets>: no axis buckets in slope slope[heads=8]"));
static_assert(says<decltype(t5_causal_bias<seq, kv, buckets>(slope))>(
    "t5_causal_bias<seq, kv, buckets>: no axis buckets in slope slope[heads=8]"));
// a cap along an axis that scores lack
static_assert(says<decltype(softcap(scores, table))>(
    "/: table varies along buckets, which dot(Q, K) lacks dot(Q, K)[batch, heads=8, seq, kv] "
    "table[heads=8, buckets=32]"));
// norms over a missing axis, with parameters of another
static_assert(
    says<decltype(rms_norm<d_k>(X))>("rms_norm<d_k>: no axis d_k in X X[batch, seq, d_model=512]"));
static_assert(says<decltype(rms_norm<d_model>(X, slope))>(
    "rms_norm<d_model>: slope varies along heads, which X lacks X[batch, seq, d_model=512] "
    "slope[heads=8]"));
static_assert(says<decltype(unit_length<d_k>(X))>(
    "unit_length<d_k>: no axis d_k in X X[batch, seq, d_model=512]"));
static_assert(says<decltype(qk_norm<d_k>(Q, Q, 10))>(
    "dot<d_k>: both sides carry seq rename one side or make it a batch axis: rename<seq, "
    "...>(unit_length(Q)) for a product at each seq, write sum<d_k>(unit_length(Q) * "
    "unit_length(Q)) unit_length(Q)[batch, heads=8, seq, d_k=64] unit_length(Q)[batch, heads=8, "
    "seq, d_k=64]"));
static_assert(says<decltype(qk_norm<d_k>(Q, K, b))>(
    "*: b varies along d_model, which dot(unit_length(Q), unit_length(K)) lacks "
    "dot(unit_length(Q), unit_length(K))[batch, heads=8, seq, kv] b[d_model=512]"));
// keys turned by the table of the queries
static_assert(says<decltype(rope<d_k, two, half>(K, c, s))>(
    "rope: cos varies along seq, which the pairs of K lack did you mean rename<seq, kv>(cos)? "
    "K[batch, heads=8, kv, d_k=64] cos[seq, half=32]"));
static_assert(says<decltype(rope_interleaved<d_k, two, half>(Q, c_mem, s))>(
    "rope: cos varies along mem, which the pairs of Q lack Q[batch, heads=8, seq, d_k=64] cos[mem, "
    "half=32]"));
// no pairs
static_assert(says<decltype(rope<d_v, two, half>(Q, c, s))>(
    "split<d_v, two, half>: no axis d_v in Q Q[batch, heads=8, seq, d_k=64]"));
static_assert(says<decltype(rope<d_k, two, front>(Q, c, s))>(
    "split<d_k>: two * front is 32 but d_k is 64 did you mean front=32? Q[batch, heads=8, seq, "
    "d_k=64]"));
static_assert(says<decltype(rope<d_k, half, two>(Q, c, s))>(
    "rope: half is 32, not 2 did you mean rope<.., two, half>? Q[batch, heads=8, seq, d_k=64]"));
// parts that do not make the whole
static_assert(says<decltype(rope_partial<d_k, front, rest>(Q, [](auto x) { return x; }))>(
    "rope_partial<d_k, front, rest>: front + rest is 56 but d_k is 64 Q[batch, heads=8, seq, "
    "d_k=64]"));

// all of them right
static_assert(!refused<decltype(rope<d_k, two, half>(Q, c, s))> &&
              !refused<decltype(alibi<seq, mem, align::last>(slope))> &&
              !refused<decltype(softcap(scores, slope))> &&
              !refused<decltype(qk_norm<d_k>(Q, K, slope))>);

}  // namespace
