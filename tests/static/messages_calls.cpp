// Calls that no operation has: axes, quoted names and uncalled formulas where operands belong.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr in<"s", batch, heads, seq, kv> s;

static_assert(says<decltype(scores / d_k)>(
    "/: d_k is an axis, not a number did you mean sqrt(d_k) or size(d_k)?"));
static_assert(says<decltype(index(kv) <= seq)>(
    "<=: seq is an axis, not a number did you mean index(seq) or size(seq)?"));
static_assert(says<decltype(pow(d_k, 0.5))>(
    "pow: d_k is an axis, not a number did you mean sqrt(d_k) or size(d_k)?"));
static_assert(says<decltype(softmax(s, kv))>(
    "softmax: axes stand in <>, operands in () did you mean softmax<kv>(s)?"));
static_assert(says<decltype(dot(Q, K, d_k))>(
    "dot: axes stand in <>, operands in () did you mean dot<d_k>(Q, K)?"));
static_assert(says<decltype(softmax<"kv">(s))>(
    "softmax: axes are given by their C++ names did you mean softmax<kv>, without quotes?"));
static_assert(says<decltype(mask(s, sliding_window<seq, kv>))>(
    "mask: sliding_window is not called write sliding_window(width[, length[, count]])"));
static_assert(says<decltype(mask(s, keep, causal<seq, kv>))>(
    "mask: takes one keep did you mean mask(scores, keep and causal<seq, kv>)?"));
static_assert(says<decltype(scaled_dot_product<d_k, kv>(Q, K, V, true))>(
    "scaled_dot_product is not called with 4 such operands it takes scaled_dot_product(query, key, value[, keep])"));
static_assert(says<decltype(alibi<seq, kv>(heads))>(
    "alibi: heads is an axis, not a step index(heads) counts its positions, size(heads) is how many there are it takes alibi(slope[, length[, count]])"));
static_assert(says<decltype(dropout<0.1>(s))>(
    "dropout is not called with 1 such operand it takes dropout(x, seed)"));
static_assert(says<decltype(scores + alibi<seq, kv>)>(
    "+: alibi is not called write alibi(slope[, length[, count]])"));
static_assert(says<decltype(causal<seq, kv> and sliding_window<seq, kv>)>(
    "and: sliding_window is not called write sliding_window(width[, length[, count]])"));
static_assert(says<decltype(rename(K, kv, seq))>(
    "rename: axes stand in <>, operands in () did you mean rename<kv, seq>(K)?"));
static_assert(says<decltype(split<d_model>(X, heads, d_k))>(
    "split: axes stand in <>, operands in () did you mean split<d_model, heads, d_k>(X)?"));
static_assert(says<decltype(max(s, kv))>(
    "max: kv is an axis, not a number did you mean max<kv>(s), size(kv) or index(kv)?"));
static_assert(says<decltype(mean(X, d_model))>(
    "mean: axes stand in <>, operands in () did you mean mean<d_model>(X)?"));
static_assert(says<decltype(d_k / 2)>(
    "/: d_k is an axis, not a number did you mean sqrt(d_k) or size(d_k)?"));
static_assert(says<decltype(multi_head<d_model, seq, kv, heads, d_k, d_v>(X, Wq))>(
    "multi_head is not called with 2 such operands it takes multi_head(X, Wq, Wk, Wv, Wo[, keep])"));
static_assert(says<decltype(layer_norm<d_model>(X, d_model))>(
    "layer_norm: d_model is an axis, not a step index(d_model) counts its positions, size(d_model) is how many there are it takes layer_norm(x[, gamma[, beta]][, epsilon])"));
static_assert(says<decltype(slice<seq, kv>(X, 2.5))>(
    "take<seq>: index(kv) + number is f32, not i32 positions are whole numbers: cast<i32>(index(kv) + number)? X[batch, seq, d_model=512] index(kv) + number[kv]"));

}  // namespace
