// SPDX-License-Identifier: BSL-1.0
// Slips of steps that do not belong together: each is refused, and a right neighbour is not.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr in<"S", batch, heads, seq, kv> S;
constexpr in<"a", batch, heads, seq> gate;
constexpr param<"sl", heads> slope;
constexpr in<"id", i32, batch, seq> id;
constexpr auto weights = step<decltype(softmax<kv>(S))>;

// divided by the root of a variance, inverted
constexpr auto root = step<decltype(rsqrt(TYPE(TYPE(mean<d_k>(TYPE(Q * Q))) + 1e-6)))>;
static_assert(says<decltype(Q / root)>(
    "/: rsqrt(mean(Q * Q) + number) is 1 / sqrt(..), so this multiplies by the root did you mean Q "
    "* rsqrt(mean(Q * Q) + number)? if it is meant, * sqrt(..) Q[batch, heads=8, seq, d_k=64] "
    "rsqrt(mean(Q * Q) + number)[batch, heads=8, seq]"));
static_assert(!refused<decltype(Q * root)>);
// weights over their mean, sums over positions that a mask hides
constexpr auto grown = step<decltype(exp(S))>;
static_assert(says<decltype(grown / TYPE(mean<kv>(grown)))>(
    "/: weights divided by their mean add up to the number of positions, not to 1 did you mean "
    "sum<kv>(exp(S))? if it is meant, let<\"average\">(mean(exp(S))) exp(S)[batch, heads=8, seq, "
    "kv] mean(exp(S))[batch, heads=8, seq]"));
static_assert(!refused<decltype(grown / let<"average">(TYPE(mean<kv>(grown))))>);
constexpr in<"valid", b8, batch, seq> valid;
constexpr auto kept = step<decltype(sum<seq>(TYPE(mask(Q, valid))))>;
static_assert(says<decltype(kept / size(seq))>(
    "/: size(seq) counts what the mask of sum(mask(Q, valid)) hides did you mean mean<seq>(..)? if "
    "it is meant, divide by (size(seq) + 0) sum(mask(Q, valid))[batch, heads=8, d_k=64]"));
static_assert(!refused<decltype(kept / (size(seq) + 0))> &&
              !refused<decltype(TYPE(sum<seq>(Q)) / size(seq))>);
// positions from 0 as divisors
static_assert(says<decltype(TYPE(cumsum<seq>(Q)) / index(seq))>(
    "/: index(seq) is 0 at the first position did you mean cumsum(Q) / (index(seq) + 1)? if it is "
    "meant, divide by (index(seq) + 0) cumsum(Q)[batch, heads=8, seq, d_k=64]"));
static_assert(!refused<decltype(TYPE(cumsum<seq>(Q)) / (index(seq) + 1))>);
// cosines scaled again
static_assert(says<decltype(TYPE(qk_norm<d_k>(Q, K, 10)) / sqrt(d_k))>(
    "/: qk_norm(Q, K, number) are cosines times a scale of their own, whatever the size of d_k "
    "leave sqrt(d_k) out; if it is meant, sqrt(size(d_k)) qk_norm(Q, K, number)[batch, heads=8, "
    "seq, kv]"));
static_assert(!refused<decltype(TYPE(qk_norm<d_k>(Q, K, 10)) / sqrt(size(d_k)))>);
// a divisor that adds up every key
constexpr auto pairs = step<decltype(mask(TYPE(dot<d_k>(Q, K)), causal<seq, kv>))>;
constexpr in<"Vs", batch, heads, kv, d_v> Vs;
static_assert(says<decltype(TYPE(dot<kv>(pairs, Vs)) / TYPE(dot<d_k>(Q, TYPE(sum<kv>(K)))))>(
    "/: dot(mask(..), Vs) leaves out what a mask hides, but dot(Q, sum(K)) adds up every key did "
    "you mean sum<kv>(mask(..)) as the divisor? if it is meant, let<\"total\">(dot(Q, sum(K))) "
    "dot(mask(..), Vs)[batch, heads=8, seq, d_v=32] dot(Q, sum(K))[batch, heads=8, seq]"));
static_assert(!refused<decltype(TYPE(dot<kv>(pairs, Vs)) / TYPE(sum<kv>(pairs)))>);
// what lies behind the padding, shown; other documents, kept
constexpr in<"length", i32, batch> length;
constexpr auto filled = step<decltype(padding<kv>(length))>;
static_assert(says<decltype(filled || sliding_window<seq, kv>(9))>(
    "or: padding(length) or sliding_window<seq, kv> shows what lies behind the padding did you "
    "mean padding(length) and sliding_window<seq, kv>? if it is meant, "
    "let<\"filled\">(padding(length)) padding(length)[kv, batch] sliding_window<seq, kv>[seq, "
    "kv]"));
static_assert(!refused<decltype(filled && sliding_window<seq, kv>(9))>);
static_assert(says<decltype(mask(S, !TYPE(document<seq, kv>(id))))>(
    "mask: !document(id) keeps what document(id) hides did you mean document(id)? if it is meant, "
    "let<\"others\">(!..) S[batch, heads=8, seq, kv]"));
// weights as whole numbers
static_assert(says<decltype(cast<i32>(weights))>(
    "cast<i32>: softmax(S) holds weights over kv, which are below 1 and become 0 leave the cast "
    "out; if it is meant, plain(..) of the weights softmax(S)[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(cast<i32>(plain(weights)))> &&
              !refused<decltype(cast<bf16>(weights))>);
// the same attention twice, and one that is masked beside one that is not
constexpr in<"S2", batch, heads, seq, kv> S2;
static_assert(says<decltype(differential<kv>(S, S, Vs, 0.8f))>(
    "differential: S is given twice, so the attentions differ by a factor each has a query and a "
    "key of its own; if it is meant, let<\"second\">(S) S[batch, heads=8, seq, kv]"));
static_assert(says<decltype(differential<kv>(TYPE(mask(S, causal<seq, kv>)), S2, Vs, 0.8f))>(
    "differential: mask(S, causal<seq, kv>) is masked, the other scores are not mask both; if it "
    "is meant, where(keep, x, -inf) in place of that mask mask(S, causal<seq, kv>)[batch, heads=8, "
    "seq, kv] S2[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(differential<kv>(S, S2, Vs, 0.8f))> &&
              !refused<decltype(differential<kv>(S, let<"second">(S), Vs, 0.8f))>);
// features that may be negative
constexpr auto positive = step<decltype(elu_plus_one(Q))>;
static_assert(says<decltype(linear_attention<d_k, kv>(positive, elu(K), Vs))>(
    "linear_attention: elu(K) may be negative, and the divisor 0 did you mean elu_plus_one(..)? if "
    "it is meant, let<\"features\">(elu(K)) elu(K)[batch, heads=8, kv, d_k=64]"));
static_assert(!refused<decltype(linear_attention<d_k, kv>(positive, TYPE(elu_plus_one(K)), Vs))>);
// operands in each other's places
static_assert(says<decltype(scaled_dot_product<d_k, seq>(K, Q, Vq))>(
    "scaled_dot_product: K is in the place of the query, Q in that of the key it takes "
    "scaled_dot_product(query, key, value[, keep]); if it is meant, let<\"query\">(K)"));
static_assert(!refused<decltype(scaled_dot_product<d_k, kv>(Q, K, Vs))> &&
              !refused<decltype(scaled_dot_product<d_k, seq>(let<"query">(K), Q, Vq))>);

// scores without exp below a product of it
static_assert(says<decltype(TYPE(dot<kv>(exp(S), V)) / TYPE(sum<kv>(S)))>(
    "/: sum(S) adds up S, not its exp did you mean sum<kv>(exp(S))? if it is meant, "
    "let<\"total\">(sum(S)) dot(exp(S), V)[batch, heads=8, seq, d_v=32] sum(S)[batch, heads=8, "
    "seq]"));
static_assert(!refused<decltype(TYPE(dot<kv>(exp(S), V)) / TYPE(sum<kv>(exp(S))))>);
// a log of a sum of scores
static_assert(says<decltype(log(TYPE(sum<kv>(scores))))>(
    "log: sum(dot(Q, K)) adds up dot(Q, K), not its exp did you mean logsumexp<kv>(dot(Q, K))? if "
    "it is meant, let<\"total\">(sum(dot(Q, K))) sum(dot(Q, K))[batch, heads=8, seq]"));
static_assert(!refused<decltype(log(TYPE(sum<kv>(weights))))> &&
              !refused<decltype(log(TYPE(sum<kv>(exp(scores)))))> &&
              !refused<decltype(log(let<"total">(TYPE(sum<kv>(scores)))))>);
// the position behind the last
static_assert(says<decltype(take<kv>(K, size(kv)))>(
    "take<kv>: positions end at size(kv) - 1 did you mean size(kv) - 1? if it is meant, size(kv) + "
    "0 K[batch, heads=8, kv, d_k=64]"));
static_assert(!refused<decltype(take<kv>(K, size(kv) - 1))> &&
              !refused<decltype(take<kv>(K, size(kv) + 0))>);
// a document mask that shows the others
constexpr in<"doc", i32, batch, seq> doc;
static_assert(says<decltype(mask(scores, TYPE(doc != TYPE(rename<seq, kv>(doc)))))>(
    "mask: doc != rename(doc) hides each position from itself did you mean doc == rename(doc)? if "
    "it is meant, let<\"others\">(doc != rename(doc)) dot(Q, K)[batch, heads=8, seq, kv] doc != "
    "rename(doc)[batch, seq, kv]"));
static_assert(!refused<decltype(mask(scores, TYPE(doc == TYPE(rename<seq, kv>(doc)))))> &&
              !refused<decltype(where(TYPE(doc != TYPE(rename<seq, kv>(doc))), -1e9f, scores))>);
// heads and features in one order, and in the other
constexpr in<"Y", batch, seq, d_model> Y;
constexpr in<"Z", batch, kv, d_model> Z;
constexpr auto of_heads = TYPE(split<d_model, heads, d_k>(Y));
static_assert(says<decltype(dot<d_k>(of_heads, TYPE(split<d_model, d_k, heads>(Z))))>(
    "dot<d_k>: split(Y) was split as heads, d_k, but split(Z) as d_k, heads split both alike; if "
    "it is meant, plain(split(Z)) split(Y)[batch, seq, heads=8, d_k=64] split(Z)[batch, kv, "
    "d_k=64, heads=8]"));
static_assert(!refused<decltype(dot<d_k>(of_heads, TYPE(split<d_model, heads, d_k>(Z))))> &&
              !refused<decltype(dot<d_k>(of_heads, plain(TYPE(split<d_model, d_k, heads>(Z)))))>);
// a feature map over one side
static_assert(says<decltype(linear_attention<d_k, kv>(elu_plus_one(Q), K, V))>(
    "linear_attention: elu_plus_one(Q) went through a feature map, K did not did you mean "
    "elu_plus_one(K)? if it is meant, plain(K) elu_plus_one(Q)[batch, heads=8, seq, d_k=64] "
    "K[batch, heads=8, kv, d_k=64]"));
static_assert(says<decltype(causal_linear_attention<d_k, seq, d_v>(Kq, relu(Q), Vq))>(
    "linear_attention: relu(Q) went through a feature map, Kq did not did you mean relu(Kq)? if it "
    "is meant, plain(Kq) Kq[batch, heads=8, seq, d_k=64] relu(Q)[batch, heads=8, seq, d_k=64]"));
static_assert(!refused<decltype(linear_attention<d_k, kv>(elu_plus_one(Q), plain(K), V))> &&
              !refused<decltype(linear_attention<d_k, kv>(relu(Q), relu(K), V))>);
// unit length by the name it has elsewhere
static_assert(says<decltype(normalize<d_k>(Q))>(
    "normalize<d_k>: Q may be negative, and so may their sum did you mean unit_length<d_k>, or "
    "softmax<d_k>? if it is meant, plain(Q) Q[batch, heads=8, seq, d_k=64]"));
static_assert(says<decltype(normalize<d_k>(TYPE(dot<d_model>(X, Wq))))>(
    "normalize<d_k>: dot(X, Wq) may be negative, and so may their sum did you mean "
    "unit_length<d_k>, or softmax<d_k>? if it is meant, plain(dot(X, Wq)) dot(X, Wq)[batch, seq, "
    "heads=8, d_k=64]"));
static_assert(!refused<decltype(normalize<d_k>(plain(Q)))> &&
              !refused<decltype(normalize<d_k>(relu(Q)))> && !refused<decltype(normalize<kv>(S))>);
// a bias per query, added to scores that are an input
static_assert(says<decltype(softmax<kv>(TYPE(S + gate)))>(
    "softmax<kv>: a bias does not vary along kv and cancels leave it out, or give it the axis kv; "
    "a sink goes into attend_with_sink<kv> S + a[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(softmax<seq>(TYPE(S + gate)))>);
// both factors divided by the whole root
static_assert(says<decltype(dot<d_k>(TYPE(Q / sqrt(d_k)), TYPE(K / sqrt(d_k))))>(
    "dot<d_k>: Q / sqrt(d_k) and K / sqrt(d_k) are both divided by sqrt(d_k), so their product is "
    "divided by d_k divide one of them; if it is meant, sqrt(size(d_k)) Q / sqrt(d_k)[batch, "
    "heads=8, seq, d_k=64] K / sqrt(d_k)[batch, heads=8, kv, d_k=64]"));
static_assert(!refused<decltype(dot<d_k>(TYPE(Q / sqrt(size(d_k))), TYPE(K / sqrt(d_k))))> &&
              !refused<decltype(dot<d_k>(TYPE(Q / sqrt(d_k)), K))>);
// a condition of positions as a number
static_assert(says<decltype(scores + TYPE(cast<f32>(causal<seq, kv>)))>(
    "+: cast(causal<seq, kv>) is 1 where causal<seq, kv> holds and 0 elsewhere, so it hides "
    "nothing did you mean mask(dot(Q, K), causal<seq, kv>)? if it is meant, where(causal<seq, kv>, "
    "1, 0) dot(Q, K)[batch, heads=8, seq, kv] cast(causal<seq, kv>)[kv, seq]"));
static_assert(!refused<decltype(scores + TYPE(where(causal<seq, kv>, 1, 0)))>);
// gamma along what is not normalised
static_assert(says<decltype(layer_norm<seq>(X, b))>(
    "layer_norm<seq>: b varies along d_model, which is not normalised did you mean "
    "layer_norm<d_model>? if it is meant, layer_norm<seq>(X) * b X[batch, seq, d_model=512] "
    "b[d_model=512]"));
static_assert(says<decltype(rms_norm<seq>(X, b))>(
    "rms_norm<seq>: b varies along d_model, which is not normalised did you mean "
    "rms_norm<d_model>? if it is meant, rms_norm<seq>(X) * b X[batch, seq, d_model=512] "
    "b[d_model=512]"));
static_assert(!refused<decltype(TYPE(layer_norm<seq>(X)) * b)>);
// an additive mask made of a given one needs no broadcast
static_assert(!refused<decltype(scores + TYPE(where(keep, 0.f, -1e9f)))> &&
              !refused<decltype(scores + TYPE(TYPE(where(keep, 0, 1)) * -1e4))>);
static_assert(refused<decltype(weights + TYPE(where(keep, 0.f, -1e9f)))>);
// slopes with a minus, which the bias has
static_assert(says<decltype(alibi<seq, kv>(TYPE(-slope)))>(
    "alibi: -sl has a minus, but the bias subtracts the slope times the distance leave the minus "
    "out; if it is meant, let<\"slope\">(..) -sl[heads=8]"));
static_assert(refused<decltype(alibi<seq, kv>(-alibi_slopes(heads)))> &&
              !refused<decltype(alibi<seq, kv>(alibi_slopes(heads)))> &&
              !refused<decltype(alibi<seq, kv>(TYPE(let<"slope">(TYPE(-slope)))))>);
// slopes along what they are a slope of
static_assert(says<decltype(alibi<seq, kv>(TYPE(pow(2.0, -index(seq)))))>(
    "alibi: pow(number, -index(seq)) varies along seq, whose distances it multiplies each head has "
    "a slope: alibi_slopes(heads); if it is meant, - x * abs(..) pow(number, -index(seq))[seq]"));
// scores limited before they are divided
static_assert(says<decltype(TYPE(softcap(scores, 50)) / sqrt(d_k))>(
    "/: softcap(dot(Q, K), number) limits scores that are not divided by sqrt(d_k) yet divide them "
    "first, softcap(.. / sqrt(d_k), ..); if it is meant, sqrt(size(d_k)) softcap(dot(Q, K), "
    "number)[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(TYPE(softcap(scores, 50)) / sqrt(size(d_k)))> &&
              !refused<decltype(softcap(TYPE(scores / sqrt(d_k)), 50))>);
// one of two attentions without the mask
constexpr auto causal_weights = step<decltype(softmax<kv>(TYPE(mask(scores, causal<seq, kv>))))>;
static_assert(says<decltype(causal_weights - TYPE(0.5 * weights))>(
    "-: softmax(mask(..)) leaves out what a mask hides, but number * softmax(S) does not mask the "
    "scores of both; if it is meant, plain(..) of the weights softmax(mask(..))[batch, heads=8, "
    "seq, kv] number * softmax(S)[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(causal_weights - TYPE(0.5 * causal_weights))> &&
              !refused<decltype(causal_weights - TYPE(0.5 * plain(weights)))> &&
              !refused<decltype(causal_weights + TYPE(0.5 * weights))>);
// the scale after softmax
static_assert(says<decltype(weights / sqrt(d_k))>(
    "sqrt(d_k): softmax(S) already holds weights over kv divide the scores before that; if it is "
    "meant, sqrt(size(d_k)) softmax(S)[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(weights / sqrt(size(d_k)))>);
// an average over all positions of what a mask hides some of
constexpr auto hidden_sum = step<decltype(sum<batch, seq>(TYPE(mask(X, padding<seq>(length)))))>;
static_assert(says<decltype(hidden_sum / (size(batch) * size(seq)))>(
    "/: size(batch) * size(seq) counts what the mask of sum(mask(..)) hides did you mean "
    "mean<batch, seq>(..)? if it is meant, divide by (size(batch) * size(seq) + 0) "
    "sum(mask(..))[d_model=512]"));
static_assert(!refused<decltype(hidden_sum / (size(batch) * size(seq) + 0))>);

}  // namespace
