// SPDX-License-Identifier: BSL-1.0
// Slips of formulas and of C++ that look right: each is refused, and a right neighbour is not.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr in<"S", batch, heads, seq, kv> S;
constexpr in<"a", batch, heads, seq> gate;
constexpr axis<"two", 2> two;
constexpr axis<"half", 32> half;
constexpr axis<"distances", 129> distances;
constexpr param<"T", heads, distances> T;
constexpr auto weights = step<decltype(softmax<kv>(S))>;

// the maximum over other axes than the sum
constexpr auto shifted = step<decltype(exp(step<decltype(S - max<seq>(S))>))>;
static_assert(says<decltype(sum<kv>(shifted))>(
    "sum<kv>: exp(S - max(S)) was shifted by the maximum over seq did you mean sum<seq>(..) here, "
    "or max<kv> there? if it is meant, plain(..) exp(S - max(S))[batch, heads=8, seq, kv]"));
static_assert(says<decltype(normalize<kv>(shifted))>(
    "normalize<kv>: exp(S - max(S)) was shifted by the maximum over seq did you mean "
    "normalize<seq>(..) here, or max<kv> there? if it is meant, plain(..) exp(S - max(S))[batch, "
    "heads=8, seq, kv]"));
static_assert(!refused<decltype(sum<seq>(shifted))> &&
              !refused<decltype(sum<kv>(plain(shifted)))> &&
              !refused<decltype(sum<kv>(exp(step<decltype(S - max<seq, kv>(S))>)))>);
// exp forgotten in the divisor
static_assert(says<decltype(exp(S) / sum<kv>(S))>(
    "/: sum(S) adds up S, not its exp did you mean sum<kv>(exp(S))? if it is meant, "
    "let<\"total\">(sum(S)) exp(S)[batch, heads=8, seq, kv] sum(S)[batch, heads=8, seq]"));
static_assert(!refused<decltype(exp(S) / let<"total">(step<decltype(sum<kv>(S))>))>);
// a mask as a factor: hidden scores are 0, and seen
static_assert(says<decltype(softmax<kv>(step<decltype(S * cast<f32>(keep))>))>(
    "softmax<kv>: a factor of S * cast(keep) was masked along kv, so its scores are 0 there, and "
    "seen mask the scores instead; if it is meant, where(keep, x, 0) in place of that mask S * "
    "cast(keep)[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(softmax<kv>(step<decltype(where(keep, S, 0))>))> &&
              !refused<decltype(normalize<kv>(step<decltype(relu(S) * cast<f32>(keep))>))> &&
              !refused<decltype(sum<kv>(step<decltype(S * cast<f32>(keep))>))>);
static_assert(says<decltype(normalize<kv>(exp(step<decltype(S * cast<f32>(keep))>)))>(
    "normalize<kv>: a factor of exp(S * cast(keep)) was masked along kv, so its scores are 0 "
    "there, and seen mask the scores instead; if it is meant, where(keep, x, 0) in place of that "
    "mask exp(S * cast(keep))[batch, heads=8, seq, kv]"));
// weights capped
static_assert(says<decltype(softcap(weights, 50))>(
    "softcap: softmax(S) holds weights over kv cap the scores before softmax; if it is meant, "
    "plain(..) of the weights softmax(S)[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(softcap(plain(weights), 50))>);
// a scale that multiplies
static_assert(says<decltype(scores / rsqrt(size(d_k)))>(
    "dot(Q, K) / rsqrt(size(d_k)) multiplies by the root of what was contracted did you mean / "
    "sqrt(d_k)? if it is meant, * sqrt(size(d_k)) dot(Q, K)[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(scores * rsqrt(size(d_k)))>);
// tables of cosine and sine exchanged
static_assert(says<decltype(rope<d_k, two, half>(Q, sin(rope_angle<seq, half>()),
                                                 cos(rope_angle<seq, half>())))>(
    "rope: sin(..) is in the place of the cosine the cosine comes first, then the sine; if it is "
    "meant, let<..>(..)"));
// their axes exchanged
static_assert(
    says<decltype(rope_angle<half, seq>())>("rope_angle: seq has no static size, as pairs of "
                                            "features have did you mean rope_angle<seq, half>()?"));
// the angle of heads, which have no positions
static_assert(says<decltype(rope_angle<heads, half>())>(
    "rope_angle: heads is a batch axis, which has no positions did you mean the axis of the "
    "tokens, as rope_angle<seq, half>()?"));
// keys that turn the other way than queries
static_assert(says<decltype(rope<d_k, two, half>(Q, cos(rope_angle<seq, half>()),
                                                 -sin(rope_angle<seq, half>())))>(
    "rope: -sin(..) turns Q the other way leave the minus out, for queries and keys alike; if it "
    "is meant, let<..>(..)"));
// queries that are rotated twice
constexpr auto turned =
    TYPE(rope<d_k, two, half>(Q, cos(rope_angle<seq, half>()), sin(rope_angle<seq, half>())));
static_assert(says<decltype(rope<d_k, two, half>(turned, cos(rope_angle<seq, half>()),
                                                 sin(rope_angle<seq, half>())))>(
    "rope: rope(Q, cos(..), sin(..)) is rotated by its positions already did you mean to leave one "
    "out? if it is meant, plain(..) rope(Q, cos(..), sin(..))[batch, heads=8, seq, d_k=64]"));
static_assert(
    !refused<decltype(rope<d_k, two, half>(TYPE(plain(turned)), cos(rope_angle<seq, half>()),
                                           sin(rope_angle<seq, half>())))>);
// the root of another axis that the scores have
static_assert(says<decltype(scores / sqrt(heads))>(
    "sqrt(heads): heads was not contracted here did you mean sqrt(d_k)? if it is meant, "
    "sqrt(size(heads)) dot(Q, K)[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(scores / sqrt(size(heads)))>);
// a position and its bound
static_assert(says<decltype(index(kv) < size(kv))>(
    "<: positions end at size(kv) - 1, so index(kv) is always below size(kv) did you mean a length "
    "of the call? if it is meant, size(kv) + 0"));
static_assert(!refused<decltype(index(kv) < size(kv) - 1)> &&
              !refused<decltype(index(kv) < size(kv) + 0)>);
// a causal mask beside a prefix
constexpr in<"prompt", i32, batch> prompt;
static_assert(says<decltype(causal<seq, kv> && TYPE(prefix<seq, kv>(prompt)))>(
    "and: causal<seq, kv> hides the prefix again did you mean prefix<seq, kv> alone? it is causal "
    "after the prefix causal<seq, kv>[kv, seq] prefix<seq, kv>[kv, seq, batch]"));
static_assert(!refused<decltype(TYPE(prefix<seq, kv>(prompt)) && sliding_window<seq, kv>(9))>);
// scores normalized as if they were positive
static_assert(says<decltype(normalize<kv>(TYPE(scores / sqrt(d_k))))>(
    "normalize<kv>: dot(Q, K) / sqrt(d_k) are scores, which may be negative did you mean "
    "softmax<kv>? if it is meant, plain(dot(Q, K) / sqrt(d_k)) dot(Q, K) / sqrt(d_k)[batch, "
    "heads=8, seq, kv]"));
static_assert(!refused<decltype(normalize<kv>(plain(TYPE(scores / sqrt(d_k)))))>);
static_assert(!refused<decltype(normalize<kv>(TYPE((scores / sqrt(d_k)) * (scores / sqrt(d_k)))))>);
static_assert(!refused<decltype(normalize<kv>(TYPE(
                  1 + scores / sqrt(d_k) + (scores / sqrt(d_k)) * (scores / sqrt(d_k)) / 2)))>);
static_assert(!refused<decltype(dot<d_k>(unit_length<d_k>(Q), unit_length<d_k>(K)) * sqrt(d_k))>);
static_assert(
    !refused<decltype(dot<d_k>(unit_length<d_k>(Q) * 2, unit_length<d_k>(K) * 2) * sqrt(d_k))>);
static_assert(!refused<decltype(normalize<kv>(relu(TYPE(scores / sqrt(d_k)))))> &&
              !refused<decltype(normalize<kv>(TYPE(scores / sqrt(size(d_k)))))>);
// a bias of a projection, either way
static_assert(
    !refused<decltype(project<d_model>(X, param<"W", d_model, d_k>{}, param<"b", d_k>{}))>);
// a gate in the place of its logarithm
constexpr auto zero = step<decltype(broadcast<batch, heads>(param<"z", d_k, d_v>{}))>;
static_assert(says<decltype(gated_attention<d_k, seq, d_v>(zero, Q, Kq, Vq, sigmoid(gate)))>(
    "log_decay: sigmoid(a) is above 0, so the state would grow did you mean log(sigmoid(a))? if it "
    "is meant, let<..>(..) sigmoid(a)[batch, heads=8, seq]"));
static_assert(says<decltype(gated_attention<d_k, seq, d_v>(zero, Q, Kq, Vq, exp(gate)))>(
    "log_decay: exp(a) is above 0, so the state would grow did you mean -exp(a)? if it is meant, "
    "let<..>(..) exp(a)[batch, heads=8, seq]"));
static_assert(!refused<decltype(gated_attention<d_k, seq, d_v>(
                  zero, Q, Kq, Vq, log(step<decltype(sigmoid(gate))>)))>);
static_assert(says<decltype(gated_attention<d_k, seq, d_v>(
                  zero, Q, Kq, Vq, -TYPE(log(step<decltype(sigmoid(gate))>))))>(
    "log_decay: -log(sigmoid(a)) is above 0, so the state would grow did you mean log(sigmoid(a))? "
    "if it is meant, let<..>(..) -log(sigmoid(a))[batch, heads=8, seq]"));
// relative positions without an offset
static_assert(says<decltype(take<distances>(T, index(kv) - index(seq)))>(
    "take<distances>: index(kv) - index(seq) is negative where the second index is larger did you "
    "leave out an offset, as + 64 of min(max(.., -64), 64)? if it is meant, max(.., 0) T[heads=8, "
    "distances=129]"));
static_assert(!refused<decltype(take<distances>(T, index(kv) - index(seq) + 64))> &&
              !refused<decltype(take<distances>(T, max(index(kv) - index(seq), 0)))>);
// a parenthesis misplaced
static_assert(says<decltype(abs(index(seq) - index(kv) <= 32))>(
    "abs: (..) <= number is b8, not a number did you mean abs(a - b) <= c? if it is meant, "
    "where((..) <= number, 1, 0) is a number (..) <= number[seq, kv]"));
// a product that was meant to be contracted
static_assert(says<decltype(weights * V)>(
    "*: neither side contains the other did you mean dot<kv>(softmax(S), V)? if it is meant, "
    "broadcast<d_v>(softmax(S)) and broadcast<seq>(V) softmax(S)[batch, heads=8, seq, kv] V[batch, "
    "heads=8, kv, d_v=32]"));
// inputs that are declared wrongly, where they are used
constexpr in<"B", seq, seq> twice;
constexpr in<"D", seq, 64> stray;
static_assert(says<decltype(scores + twice)>(
    "B names axis seq twice one of them is another axis: an alias<.., seq>"));
static_assert(says<decltype(scaled_dot_product<seq, kv>(twice, twice, V))>(
    "B names axis seq twice one of them is another axis: an alias<.., seq>"));
static_assert(
    says<decltype(sum<d_k>(stray))>("D names what is neither an axis nor a type axes have names: "
                                    "axis<.., 64> or batch_axis<..>, and one type is enough"));

// right neighbours of the above
constexpr in<"h", b8, batch, seq, kv> hidden;
constexpr param<"sl", heads> slope;
constexpr in<"g", batch, heads, kv> g;
constexpr in<"fb", batch, heads, seq, kv> future_bias;
static_assert(!refused<decltype(softmax<kv>(TYPE(scores + TYPE(cast<f32>(hidden) * -1e9f))))>);
static_assert(!refused<decltype(softmax<kv>(TYPE(S * TYPE(1 - TYPE(cast<f32>(hidden) * 2)))))>);
static_assert(!refused<decltype(normalize<kv>(TYPE(TYPE(relu(S) * cast<f32>(keep)) / 8)))>);
static_assert(!refused<decltype(normalize<kv>(TYPE(relu(TYPE(S * cast<f32>(keep))))))>);
static_assert(!refused<decltype(softmax<kv>(TYPE(dot<d_k>(Q, TYPE(TYPE(dropout<0.5>(K, 7)) *
                                                                  TYPE(exp(g)))))))>);
static_assert(!refused<decltype(mask(scores, !causal<kv, seq>))>);
static_assert(!refused<decltype(mask(scores, causal<seq, kv> and !causal<kv, seq>))>);
static_assert(!refused<decltype(sum<d_k>(TYPE(Q - TYPE(max<seq>(Q)))))>);
static_assert(!refused<decltype(where(causal<seq, kv> and causal<kv, seq>, 0.f, scores))>);
static_assert(!refused<decltype(where(causal<seq, kv>, 0.f, future_bias))>);
static_assert(!refused<decltype(dot<kv>(softmax<kv>(scores), TYPE(V / sqrt(d_v))))>);
static_assert(!refused<decltype(index(seq) * 2 - index(seq) * 3)>);
static_assert(!refused<decltype(1 - TYPE(alibi<seq, kv>(slope)))>);
static_assert(!refused<decltype(mask(scores, index(kv) < index(seq)))>);

// C++ that changes a step, calls it or takes it apart
template <class X>
auto added(X x) -> decltype(x += x);
template <class X>
auto divided(X x) -> decltype(x /= sqrt(d_k));
template <class X, class Y>
auto assigned(X x, Y y) -> decltype(x = y);
static_assert(says<decltype(added(S))>(
    "a step cannot be changed in place give the new one a name of its own: auto next = ..;"));
static_assert(says<decltype(divided(scores))>(
    "a step cannot be changed in place give the new one a name of its own: auto next = ..;"));
static_assert(says<decltype(assigned(scores, S))>(
    "a step cannot be changed in place give the new one a name of its own: auto next = ..;"));
static_assert(says<decltype(causal<seq, kv>())>("a step is not a function leave the () out"));
static_assert(says<decltype(T[keep])>(
    "a step cannot be indexed with [] did you mean take<axis>(x, position)? keys that a condition "
    "hides: mask(x, keep)"));
static_assert(says<decltype((S, V))>(
    "a comma drops S several results are returned in braces: return {S, V};"));
static_assert(says<decltype(index<seq>())>("index: the axis goes in () did you mean index(seq)?"));
static_assert(says<decltype(zeros<batch, 64>())>(
    "zeros: 64 is not an axis axes have names: axis<.., 64>, and one type is enough"));
static_assert(
    says<decltype(recurrent_attention<d_k, seq, d_v>(zeros<batch, heads, d_k, d_v>, Q, Kq, Vq))>(
        "recurrent_attention: operand 1 is a function that is not called add () to call it it "
        "takes recurrent_attention(state, query, key, value)"));
constexpr auto both = step<decltype(recurrent_attention<d_k, seq, d_v>(zero, Q, Kq, Vq))>;
static_assert(says<decltype(both / gate)>(
    "/: operand 1 holds several results write .result after it, or .last for the state"));
static_assert(says<decltype(softmax<d_v>(both))>(
    "softmax: operand 1 holds several results write .result after it, or .last for the state it "
    "takes softmax<axes..>(scores)"));
static_assert(says<decltype(softcap < kv)>("softcap takes no axes write softcap(scores, cap)"));
static_assert(says<decltype(mask(S, [](auto q, auto k) { return q >= k; }))>(
    "mask: operand 2 is neither a step nor a number it takes mask(scores, keep)"));

// a position or a number that is compared with itself
constexpr in<"id", i32, batch, seq> id;
static_assert(says<decltype(id == id)>(
    "==: id is on both sides did you mean rename<seq, other axis>(id) on one side?"));
static_assert(!refused<decltype(id == TYPE(rename<seq, kv>(id)))> && !refused<decltype(Q != Q)>);

}  // namespace
