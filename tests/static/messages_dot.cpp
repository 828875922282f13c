// SPDX-License-Identifier: BSL-1.0
// Every text of dot.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr axis<"d_k", 48> d_k48;
constexpr batch_axis<"seq"> batch_seq;
constexpr in<"K", batch, kv, d_k48> K48;
constexpr in<"S", batch_seq, d_k> S;
constexpr in<"T", batch, seq, d_k> T;
constexpr axis<"a", 2> a;
constexpr axis<"c", 2> c;
constexpr axis<"e", 2> e;
constexpr axis<"g", 2> g;
constexpr in<"L", batch, seq, a, c, d_k> L;
constexpr axis<"h", 2> h;
constexpr in<"D", f64, batch, kv, d_k> D;
constexpr in<"R", batch, heads, kv, e, g, h, d_k> R;

// a forgotten rename
static_assert(says<decltype(dot<d_k>(step<decltype(dot<d_model>(X, Wq))>,
                                     step<decltype(dot<d_model>(X, Wq))>))>(
    "dot<d_k>: both sides carry seq rename one side or make it a batch axis: rename<seq, "
    "...>(dot(X, Wq)) for a product at each seq, write sum<d_k>(dot(X, Wq) * dot(X, Wq)) dot(X, "
    "Wq)[batch, seq, heads=8, d_k=64] dot(X, Wq)[batch, seq, heads=8, d_k=64]"));
static_assert(says<decltype(dot<kv>(weights, step<decltype(dot<d_model>(X, Wq))>))>(
    "dot<kv>: no axis kv in dot(X, Wq) did you mean rename<seq, kv>(dot(X, Wq))? softmax(dot(Q, "
    "K))[batch, heads=8, seq, kv] dot(X, Wq)[batch, seq, heads=8, d_k=64]"));
// f64 with f32
static_assert(
    says<decltype(dot<d_k>(T, D))>("dot<d_k>: T is f32 but D is f64 did you mean cast<f64>(T)? "
                                   "T[batch, seq, d_k=64] D[batch, kv, d_k=64]"));
// a condition
static_assert(says<decltype(dot<kv>(keep, V))>(
    "dot<kv>: keep is b8, not a number did you leave out a softmax of scores that it masks? if a "
    "sum is meant, cast<f32>(keep) keep[batch, kv] V[batch, heads=8, kv, d_v=32]"));
static_assert(requires { dot<kv>(cast<f32>(keep), V); });
// operands that need parentheses
static_assert(says<decltype(dot<d_k>(step<decltype(relu(T) + 1)>, step<decltype(relu(T) * 2)>))>(
    "dot<d_k>: both sides carry seq rename one side or make it a batch axis: rename<seq, "
    "...>(relu(T) * number) for a product at each seq, write sum<d_k>((relu(T) + number) * "
    "(relu(T) * number)) relu(T) + number[batch, seq, d_k=64] relu(T) * number[batch, seq, "
    "d_k=64]"));
// an axis that one side lacks
static_assert(says<decltype(dot<d_v>(Q, V))>(
    "dot<d_v>: no axis d_v in Q Q[batch, heads=8, seq, d_k=64] V[batch, heads=8, kv, d_v=32]"));
// and the other
static_assert(says<decltype(dot<d_k>(Q, V))>(
    "dot<d_k>: no axis d_k in V Q[batch, heads=8, seq, d_k=64] V[batch, heads=8, kv, d_v=32]"));
// static sizes that differ
static_assert(says<decltype(dot<d_k>(T, K48))>(
    "dot<d_k>: d_k is 64 in T but 48 in K T[batch, seq, d_k=64] K[batch, kv, d_k=48]"));
// an axis of another size than both have
static_assert(says<decltype(dot<d_k48>(Q, K))>(
    "dot<d_k>: d_k is 64 in Q, not 48 Q[batch, heads=8, seq, d_k=64]"));
// one name, two axes
static_assert(says<decltype(dot<d_k>(T, S))>(
    "dot<d_k>: two different axes are named seq T[batch, seq, d_k=64] S[seq, d_k=64]"));
// heads added up between activations
static_assert(says<decltype(dot<heads, d_k>(Q, K))>(
    "dot<heads, d_k> adds up batch axis heads of two activations did you mean dot<d_k>(Q, K)? only "
    "a param may contract heads Q[batch, heads=8, seq, d_k=64] K[batch, heads=8, kv, d_k=64]"));
// a batch axis alone
static_assert(says<decltype(dot<batch>(Q, K))>(
    "dot<batch> adds up batch axis batch of two activations only a param may contract it; "
    "sum<batch> is a sum over it Q[batch, heads=8, seq, d_k=64] K[batch, heads=8, kv, d_k=64]"));
// weights over another axis
static_assert(says<decltype(dot<kv>(step<decltype(softmax<seq>(scores))>, V))>(
    "dot<kv> contracts weights over seq; did you mean softmax<kv>? if it is meant, "
    "plain(softmax(dot(Q, K))) makes them numbers softmax(dot(Q, K))[batch, heads=8, seq, kv] "
    "V[batch, heads=8, kv, d_v=32]"));
// a feature map by softmax
static_assert(says<decltype(dot<kv>(step<decltype(softmax<d_k>(K))>, V))>(
    "dot<kv> contracts weights over d_k; did you mean softmax<kv>? if it is meant, "
    "plain(softmax(K)) makes them numbers softmax(K)[batch, heads=8, kv, d_k=64] V[batch, heads=8, "
    "kv, d_v=32]"));
// weights over another axis, made otherwise: normalize<kv> is offered for normalize
static_assert(says<decltype(dot<kv>(step<decltype(normalize<seq>(exp(scores)))>, V))>(
    "dot<kv> contracts weights over seq; did you mean normalize<kv>? if it is meant, "
    "plain(normalize(exp(dot(Q, K)))) makes them numbers normalize(exp(dot(Q, K)))[batch, heads=8, "
    "seq, kv] V[batch, heads=8, kv, d_v=32]"));
inline constexpr auto powers = step<decltype(exp(scores))>;
static_assert(says<decltype(dot<kv>(step<decltype(powers / sum<seq>(powers))>, V))>(
    "dot<kv> contracts weights over seq; did you mean softmax<kv>? if it is meant, "
    "plain(exp(dot(Q, K)) / sum(exp(dot(Q, K)))) makes them numbers exp(dot(Q, K)) / "
    "sum(exp(dot(Q, K)))[batch, heads=8, seq, kv] V[batch, heads=8, kv, d_v=32]"));
static_assert(!refused<decltype(dot<kv>(step<decltype(powers / sum<kv>(powers))>, V))>);
// features divided by their sum do not count as weights
static_assert(!refused<decltype(dot<kv>(step<decltype(K / sum<d_k>(K))>, V))>);
// scores in the place of values
static_assert(says<decltype(dot<kv>(softmax<kv>(V), step<decltype(scores / sqrt(d_k))>))>(
    "dot<kv>: dot(Q, K) / sqrt(d_k) is divided by sqrt(d_k), as scores are, but is the second "
    "operand, the values scores come first, then values; if it is meant, divide by sqrt(size(d_k)) "
    "softmax(V)[batch, heads=8, kv, d_v=32] dot(Q, K) / sqrt(d_k)[batch, heads=8, seq, kv]"));
static_assert(
    !refused<decltype(dot<kv>(softmax<kv>(V), step<decltype(scores / sqrt(size(d_k)))>))>);
// weights that were let
static_assert(
    says<decltype(dot<kv>(step<decltype(let<"w">(step<decltype(softmax<seq>(scores))>))>, V))>(
        "dot<kv> contracts weights over seq; did you mean softmax<kv>? if it is meant, plain(w) "
        "makes them numbers w[batch, heads=8, seq, kv] V[batch, heads=8, kv, d_v=32]"));
// no axis at all
static_assert(
    says<decltype(dot<>(Q, K))>("dot: names no axis to contract did you mean dot<d_k>(Q, K)? "
                                "Q[batch, heads=8, seq, d_k=64] K[batch, heads=8, kv, d_k=64]"));
// expressions of positions and constants, with and without a step beside them
static_assert(!refused<decltype(dot<kv>(index(kv), V))>);
static_assert(!refused<decltype(dot<kv>(softmax<kv>(scores), filled<kv, d_v>(1)))>);
static_assert(says<decltype(dot<kv>(index(kv), filled<kv>(1)))>(
    "dot<kv>: filled meets no input of the kernel combine it with a step of the kernel first"));
static_assert(says<decltype(dot<d_k>(Q, 2))>(
    "dot<d_k>: no axis d_k in number Q[batch, heads=8, seq, d_k=64] number[]"));
// a result of too many axes
static_assert(
    says<decltype(dot<d_k>(L, R))>("dot<d_k>: the result has more than 8 axes L[batch, seq, a=2, "
                                   "c=2, d_k=64] R[batch, heads=8, kv, e=2, g=2, h=2, d_k=64]"));

}  // namespace
