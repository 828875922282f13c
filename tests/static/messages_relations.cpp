// SPDX-License-Identifier: BSL-1.0
// Texts of masks and biases that take queries and keys in the wrong order, or count positions from
// different places.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr axis<"slots"> slots;
constexpr axis<"distances", 9> distances;
constexpr axis<"buckets", 32> buckets;
constexpr in<"S", batch, heads, seq, slots> S;
constexpr in<"C", batch, heads, seq, mem> C;
constexpr in<"count", i32, batch> count;
constexpr param<"slope", heads> slope;
constexpr param<"table", heads, distances> table;
constexpr param<"t5", heads, buckets> t5;

constexpr auto seen = step<decltype(cached_causal<seq, slots>(length))>;
constexpr auto ragged = step<decltype(cached_causal<seq, slots>(length, count))>;
constexpr auto turned = step<decltype(cached_causal<slots, seq>(length))>;
constexpr auto last = sliding_window<seq, slots, align::last>(4);
constexpr auto near = step<decltype(sliding_window<seq, slots>(4, length))>;
constexpr auto sloped = step<decltype(S + step<decltype(alibi<seq, slots>(slope, length))>)>;
constexpr auto sloped_last =
    step<decltype(S + step<decltype(alibi<seq, slots, align::last>(slope))>)>;

// query and slots swapped: known where weights are made
static_assert(says<decltype(softmax<slots>(step<decltype(mask(S, turned))>))>(
    "softmax<slots>: cached_causal<slots, seq> takes seq as its keys did you mean "
    "cached_causal<seq, slots>? mask(S, cached_causal<slots, seq>)[batch, heads=8, seq, slots]"));
static_assert(says<decltype(normalize<slots>(step<decltype(mask(S, turned))>))>(
    "normalize<slots>: cached_causal<slots, seq> takes seq as its keys did you mean "
    "cached_causal<seq, slots>? mask(S, cached_causal<slots, seq>)[batch, heads=8, seq, slots]"));
static_assert(
    says<decltype(sigmoid_attention<kv>(step<decltype(mask(scores, causal<kv, seq>))>, V, 0))>(
        "sigmoid_attention<kv>: causal<kv, seq> takes seq as its keys did you mean causal<seq, "
        "kv>? mask(dot(Q, K), causal<kv, seq>)[batch, heads=8, seq, kv]"));
// one axis twice; weights over a third axis
static_assert(says<decltype(softmax<kv>(step<decltype(mask(scores, causal<seq, seq>))>))>(
    "softmax<kv>: causal<seq, seq> takes seq as its keys did you mean causal<seq, kv>? mask(dot(Q, "
    "K), causal<seq, seq>)[batch, heads=8, seq, kv]"));
static_assert(says<decltype(softmax<heads>(step<decltype(mask(S, seen))>))>(
    "softmax<heads>: cached_causal<seq, slots> takes slots as its keys did you mean "
    "softmax<slots>? mask(S, cached_causal<seq, slots>)[batch, heads=8, seq, slots]"));
// also beside a mask without sides
static_assert(says<decltype(softmax<slots>(
                  step<decltype(mask(S, turned and step<decltype(padding<slots>(length))>))>))>(
    "softmax<slots>: cached_causal<slots, seq> takes seq as its keys did you mean "
    "cached_causal<seq, slots>? mask(S, ..)[batch, heads=8, seq, slots]"));
// biases whose sides differ
static_assert(
    says<decltype(softmax<kv>(
        step<decltype(scores + step<decltype(relative_bias<kv, seq, distances>(table))>)>))>(
        "softmax<kv>: relative_bias<kv, seq> takes seq as its keys did you mean relative_bias<seq, "
        "kv>? dot(Q, K) + relative_bias<kv, seq>[batch, heads=8, seq, kv]"));
static_assert(
    says<decltype(mask(step<decltype(scores + step<decltype(t5_bias<kv, seq, buckets>(t5))>)>,
                       causal<seq, kv>))>(
        "mask: t5_bias<kv, seq> takes seq as its keys, but causal<seq, kv> takes kv name the "
        "queries first, then the keys dot(Q, K) + t5_bias<kv, seq>[batch, heads=8, seq, kv] "
        "causal<seq, kv>[kv, seq]"));

// positions that know no cache, beside those that do
static_assert(says<decltype(seen and last)>(
    "and: sliding_window<seq, slots> lacks the length that cached_causal<seq, slots> takes did you "
    "mean sliding_window<seq, slots>(width, length)? cached_causal<seq, slots>[slots, seq, batch] "
    "sliding_window<seq, slots>[seq, slots]"));
static_assert(says<decltype(ragged and last)>(
    "and: sliding_window<seq, slots> lacks the length that cached_causal<seq, slots> takes did you "
    "mean sliding_window<seq, slots>(width, length, count)? cached_causal<seq, slots>[slots, seq, "
    "batch] sliding_window<seq, slots>[seq, slots]"));
static_assert(says<decltype(mask(sloped_last, seen))>(
    "mask: alibi<seq, slots> lacks the length that cached_causal<seq, slots> takes did you mean "
    "alibi<seq, slots>(slope, length)? S + alibi<seq, slots>[batch, heads=8, seq, slots] "
    "cached_causal<seq, slots>[slots, seq, batch]"));
static_assert(says<decltype(where(seen, sloped_last, -1e9f))>(
    "where: alibi<seq, slots> lacks the length that cached_causal<seq, slots> takes did you mean "
    "alibi<seq, slots>(slope, length)? cached_causal<seq, slots>[slots, seq, batch] S + alibi<seq, "
    "slots>[batch, heads=8, seq, slots]"));
static_assert(
    says<decltype(step<decltype(mask(S, seen))> +
                  step<decltype(relative_bias<seq, slots, distances, align::last>(table))>)>(
        "+: relative_bias<seq, slots> lacks the length that cached_causal<seq, slots> takes did "
        "you mean relative_bias<seq, slots, ..>(table, length)? mask(S, cached_causal<seq, "
        "slots>)[batch, heads=8, seq, slots] relative_bias<seq, slots>[heads=8, slots, seq]"));
static_assert(says<decltype(seen and causal<seq, slots, align::last>)>(
    "and: causal<seq, slots> lacks the length that cached_causal<seq, slots> takes leave "
    "causal<seq, slots> out cached_causal<seq, slots>[slots, seq, batch] causal<seq, slots>[slots, "
    "seq]"));
static_assert(says<decltype(mask(sloped, causal<seq, slots, align::last>))>(
    "mask: causal<seq, slots> lacks the length that alibi<seq, slots> takes did you mean "
    "cached_causal<seq, slots>(length)? S + alibi<seq, slots>[slots, seq, batch, heads=8] "
    "causal<seq, slots>[slots, seq]"));
static_assert(says<decltype(seen or step<decltype(prefix<seq, slots, align::last>(length))>)>(
    "or: prefix<seq, slots> lacks the length that cached_causal<seq, slots> takes did you mean "
    "cached_causal<seq, slots>(length) or padding<slots>(prefix)? cached_causal<seq, slots>[slots, "
    "seq, batch] prefix<seq, slots>[slots, seq, batch]"));
// a length without its count, a count where none is
static_assert(says<decltype(ragged and near)>(
    "and: sliding_window<seq, slots> lacks the count that cached_causal<seq, slots> takes did you "
    "mean sliding_window<seq, slots>(width, length, count)? cached_causal<seq, slots>[slots, seq, "
    "batch] sliding_window<seq, slots>[seq, batch, slots]"));
static_assert(says<decltype(seen and step<decltype(dilated<seq, slots>(2, length, count))>)>(
    "and: cached_causal<seq, slots> lacks the count that dilated<seq, slots> takes did you mean "
    "cached_causal<seq, slots>(length, count)? cached_causal<seq, slots>[slots, seq, batch] "
    "dilated<seq, slots>[slots, seq, batch]"));
// two alignments
static_assert(
    says<decltype(causal<seq, mem, align::last> and sliding_window<seq, mem, align::first>(3))>(
        "and: sliding_window<seq, mem> and causal<seq, mem> align different positions use one "
        "alignment in both causal<seq, mem>[mem, seq] sliding_window<seq, mem>[seq, mem]"));
static_assert(says<decltype(sliding_window<seq, slots, align::last>(4, length))>(
    "sliding_window<seq, slots>: takes an alignment or the length of a cache, not both did you "
    "mean sliding_window<seq, slots>(width, length)?"));
static_assert(says<decltype(sliding_window<seq, slots, align::last>(4, length, count))>(
    "sliding_window<seq, slots>: takes an alignment or the length of a cache, not both did you "
    "mean sliding_window<seq, slots>(width, length, count)?"));
static_assert(says<decltype(sliding_window<seq, slots>(4, length, count, count))>(
    "sliding_window is not called with 4 such operands it takes sliding_window(width[, length[, "
    "count]])"));
// a length in the place of a number
static_assert(says<decltype(t5_bias<seq, slots, buckets>(t5, length))>(
    "t5_bias<seq, slots>: the largest distance is a number, but length is given did you mean "
    "t5_bias<seq, slots, ..>(table, 128, length)?"));

// all of them right
static_assert(!refused<decltype(softmax<slots>(step<decltype(mask(sloped, seen and near))>))> &&
              !refused<decltype(mask(
                  S, ragged and step<decltype(sliding_window<seq, slots>(4, length, count))>))> &&
              !refused<decltype(seen and step<decltype(padding<slots>(length))>)> &&
              !refused<decltype(t5_causal_bias<seq, slots, buckets>(t5, 20, length))> &&
              !refused<decltype(global_window<seq, slots>(4, 1, length))>);
// distances without sides may name the keys first; masks of other axes do not meet
static_assert(
    !refused<decltype(mask(step<decltype(scores + step<decltype(alibi<kv, seq>(slope))>)>,
                           causal<seq, kv>))> &&
    !refused<decltype(seen and sliding_window<seq, mem, align::last>(3))> &&
    !refused<decltype(mask(C, causal<seq, mem, align::first> and causal<seq, mem, align::last>))>);

// a mask written as a choice
static_assert(says<decltype(softmax<kv>(where(causal<kv, seq>, scores, -1e9f)))>(
    "softmax<kv>: causal<kv, seq> takes seq as its keys did you mean causal<seq, kv>? "
    "where(causal<kv, seq>, dot(Q, K), number)[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(softmax<kv>(where(causal<seq, kv>, scores, -1e9f)))>);
static_assert(!refused<decltype(softmax<kv>(where(causal<kv, seq>, -1e9f, scores)))>);
static_assert(says<decltype(where(causal<seq, kv>, -1e9f, scores))>(
    "where: causal<seq, kv> is true where a key is seen, but dot(Q, K) is chosen where it is false "
    "did you mean where(causal<seq, kv>, dot(Q, K), number)? if it is meant, compare positions: "
    "index(key) >= .. dot(Q, K)[batch, heads=8, seq, kv]"));
static_assert(says<decltype(where(!padding<kv>(length), scores, -1e9f))>(
    "where: padding(length) is true where a key is seen, but dot(Q, K) is chosen where it is false "
    "did you mean where(!padding(length), number, dot(Q, K))? if it is meant, compare positions: "
    "index(key) >= .. dot(Q, K)[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(where(!causal<seq, kv>, -1e9f, scores))>);
// an inverted mask
static_assert(says<decltype(mask(scores, !causal<seq, kv>))>(
    "mask: !causal<seq, kv> keeps what causal<seq, kv> hides did you mean causal<seq, kv>? if it "
    "is meant, compare positions: index(key) >= .. dot(Q, K)[batch, heads=8, seq, kv]"));
static_assert(says<decltype(mask(scores, !step<decltype(padding<kv>(length))>))>(
    "mask: !padding(length) keeps what padding(length) hides did you mean padding(length)? if it "
    "is meant, compare positions: index(key) >= .. dot(Q, K)[batch, heads=8, seq, kv]"));
static_assert(
    says<decltype(mask(scores, causal<seq, kv> and !step<decltype(padding<kv>(length))>))>(
        "mask: !padding(length) keeps what padding(length) hides did you mean padding(length)? if "
        "it is meant, compare positions: index(key) >= .. dot(Q, K)[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(mask(scores, index(kv) > index(seq)))> &&
              !refused<decltype(mask(scores, !sliding_window<seq, kv>(9)))>);
// biases are added
static_assert(says<decltype(scores - alibi<seq, kv>(slope))>(
    "-: alibi<seq, kv> is 0 or less, so it is added to scores did you mean dot(Q, K) + alibi<seq, "
    "kv>? if it is meant, let<\"distance\">(alibi<seq, kv>)"));
static_assert(says<decltype(scores * step<decltype(alibi<seq, kv>(slope))>)>(
    "*: alibi<seq, kv> is a bias, which is added to scores did you mean dot(Q, K) + alibi<seq, "
    "kv>? if it is meant, let<\"factor\">(alibi<seq, kv>) dot(Q, K)[batch, heads=8, seq, kv] "
    "alibi<seq, kv>[heads=8, kv, seq]"));
static_assert(says<decltype(alibi_slopes(seq))>(
    "alibi_slopes: seq is not a batch axis each head has a slope: alibi_slopes(heads)"));
// positions less themselves
static_assert(says<decltype(index(seq) - index(seq))>(
    "-: index(seq) is on both sides did you mean the index of another axis on one side?"));
static_assert(says<decltype(index(kv) <= index(kv))>(
    "<=: index(kv) is on both sides did you mean the index of another axis on one side?"));

// an axis in the place of another: a bias, a mask and positions along it
constexpr in<"Km", batch, heads, mem, d_k> Km;
constexpr in<"bias", heads, seq, kv> bias;
constexpr param<"rows", heads, seq, kv> rows;
constexpr in<"rest", heads, kv> rest;
constexpr axis<"positions", 512> positions;
constexpr param<"P", positions, d_model> P;
constexpr in<"Pi", positions, d_model> Pi;
constexpr auto over_mem = step<decltype(dot<d_k>(Q, Km))>;
static_assert(says<decltype(over_mem + bias)>(
    "+: bias varies along kv, dot(Q, Km) along mem did you mean rename<kv, mem>(bias)? if it is "
    "meant, broadcast<kv>(dot(Q, Km)) and broadcast<batch, mem>(bias) dot(Q, Km)[batch, heads=8, "
    "seq, mem] bias[heads=8, seq, kv]"));
static_assert(says<decltype(over_mem + rows)>(
    "+: rows varies along kv, which dot(Q, Km) lacks did you mean rename<kv, mem>(rows)? dot(Q, "
    "Km)[batch, heads=8, seq, mem] rows[heads=8, seq, kv]"));
static_assert(says<decltype(over_mem + relative_bias<seq, kv, distances>(table))>(
    "+: relative_bias<seq, kv> varies along kv, which dot(Q, Km) lacks did you mean "
    "relative_bias<seq, mem>? dot(Q, Km)[batch, heads=8, seq, mem] relative_bias<seq, "
    "kv>[heads=8, kv, seq]"));
static_assert(says<decltype(mask(over_mem, causal<seq, kv>))>(
    "mask: keep varies along kv, which dot(Q, Km) lacks did you mean causal<seq, mem>? dot(Q, "
    "Km)[batch, heads=8, seq, mem] causal<seq, kv>[kv, seq]"));
static_assert(says<decltype(mask(over_mem, index(kv) <= index(seq)))>(
    "mask: keep varies along kv, which dot(Q, Km) lacks did you mean index(mem)? dot(Q, "
    "Km)[batch, heads=8, seq, mem] index(kv) <= index(seq)[kv, seq]"));
static_assert(says<decltype(X + take<positions>(P, index(kv)))>(
    "+: take(P, index(kv)) varies along kv, which X lacks did you mean index(seq)? if it is meant, "
    "write broadcast<kv>(X) X[batch, seq, d_model=512] take(P, index(kv))[kv, d_model=512]"));
static_assert(says<decltype(X + take<positions>(Pi, index(kv)))>(
    "+: take(Pi, index(kv)) varies along kv, X along seq did you mean index(seq)? if it is meant, "
    "broadcast<kv>(X) and broadcast<batch, seq>(take(Pi, index(kv))) X[batch, seq, d_model=512] "
    "take(Pi, index(kv))[kv, d_model=512]"));
static_assert(says<decltype(X + P)>(
    "+: P varies along positions, which X lacks did you mean take<positions>(P, index(seq))? if it "
    "is meant, write broadcast<positions>(X) X[batch, seq, d_model=512] P[positions=512, "
    "d_model=512]"));
// two axes could be meant
static_assert(says<decltype(over_mem + rest)>(
    "+: neither side contains the other if it is meant, broadcast<kv>(dot(Q, Km)) and "
    "broadcast<batch, seq, mem>(rest) dot(Q, Km)[batch, heads=8, seq, mem] rest[heads=8, kv]"));
static_assert(!refused<decltype(over_mem + rename<kv, mem>(bias))>);
static_assert(!refused<decltype(X + take<positions>(P, index(seq)))>);

}  // namespace
