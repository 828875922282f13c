// SPDX-License-Identifier: BSL-1.0
// Texts of specs whose shapes fit but whose meaning does not, each with its neighbour that insists
// or is right.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr in<"keep2", b8, seq, kv> keep2;
constexpr in<"prior", batch, heads, seq, kv> prior;
constexpr in<"Xk", batch, kv, d_model> Xk;
constexpr in<"K", batch, kv_heads, kv, d_k> few_keys;
template <class X>
inline constexpr bool accepted = !refused<X>;
// The type that an expression has.

// truth values in arithmetic
static_assert(says<decltype(scores + keep2)>(
    "+: keep2 is b8, not a number did you mean mask(dot(Q, K), keep2)? if it is meant, "
    "where(keep2, 1, 0) is a number dot(Q, K)[batch, heads=8, seq, kv] keep2[seq, kv]"));
static_assert(says<decltype(scores * causal<seq, kv>)>(
    "*: causal<seq, kv> is b8, not a number did you mean mask(dot(Q, K), causal<seq, kv>)? if it "
    "is meant, where(causal<seq, kv>, 1, 0) is a number dot(Q, K)[batch, heads=8, seq, kv] "
    "causal<seq, kv>[kv, seq]"));
static_assert(
    says<decltype(keep2 - 1)>("-: keep2 is b8, not a number if it is meant, where(keep2, 1, 0) is "
                              "a number keep2[seq, kv] number[]"));
static_assert(accepted<decltype(mask(scores, keep2))>);
static_assert(accepted<decltype(scores * where(keep2, 1, 0))>);
static_assert(
    says<decltype(keep2 + keep)>("+: keep2 and keep are b8, not numbers did you mean keep2 and "
                                 "keep, or keep2 or keep? keep2[seq, kv] keep[batch, kv]"));
static_assert(
    says<decltype(keep2 * keep)>("*: keep2 and keep are b8, not numbers did you mean keep2 and "
                                 "keep? keep2[seq, kv] keep[batch, kv]"));
static_assert(
    says<decltype(keep2 - keep)>("-: keep2 and keep are b8, not numbers did you mean keep2 != "
                                 "keep? keep2[seq, kv] keep[batch, kv]"));
static_assert(accepted<decltype(keep2 and keep)> && accepted<decltype(keep2 != keep)>);

// operators that are none of the language
static_assert(says<decltype(keep2 & keep)>(
    "&: there is no such operation did you mean keep2 and keep? keep2[seq, kv] keep[batch, kv]"));
static_assert(says<decltype(keep2 | keep)>(
    "|: there is no such operation did you mean keep2 or keep? keep2[seq, kv] keep[batch, kv]"));
static_assert(says<decltype(scores ^ 2)>(
    "^: there is no such operation did you mean pow? dot(Q, K)[batch, heads=8, seq, kv] number[]"));
static_assert(says<decltype(keep2 ^ keep)>(
    "^: there is no such operation did you mean !=? keep2[seq, kv] keep[batch, kv]"));
static_assert(
    says<decltype(index(kv) % 3)>("%: there is no such operation whole: i - n * cast<i32>((i + "
                                  "0.5) / n) index(kv)[kv] number[]"));

// comparisons that chain, or compare truth values with numbers
static_assert(says<decltype(0 <= index(seq) - index(kv) < 128)>(
    "<: number <= (..) is b8, not a number comparisons do not chain: write a < x and x < b number "
    "<= (..)[seq, kv] number[]"));
static_assert(accepted<decltype(0 <= index(seq) - index(kv) and index(seq) - index(kv) < 128)>);
static_assert(
    says<decltype(keep2 == 1)>("==: keep2 is b8, not a number it is true or false as it is; if it "
                               "is meant, where(keep2, 1, 0) is a number keep2[seq, kv] number[]"));

// chunks of positions
static_assert(says<decltype(index(kv) / 16 == index(seq) / 16)>(
    "==: index(kv) / number is a true division: 7 / 16 is 0.4375 whole: cast<i32>((i + 0.5) / 16); "
    "if it is meant, divide by 16.0 index(kv) / number[kv] index(seq) / number[seq]"));
static_assert(says<decltype(index(kv) / size(d_k) <= index(seq) / size(d_k))>(
    "<=: index(kv) / size(d_k) is a true division: 7 / 16 is 0.4375 whole: cast<i32>((i + 0.5) / "
    "16); if it is meant, divide by 16.0 index(kv) / size(d_k)[kv] index(seq) / size(d_k)[seq]"));
static_assert(accepted<decltype(cast<i32>((index(kv) + 0.5) / 16) <= index(seq))>);
static_assert(accepted<decltype(index(kv) / 16.0 <= index(seq) / 16.0)>);
static_assert(accepted<decltype(scores * (index(kv) / size(kv)))>);

// a mask of keys or values instead of scores
constexpr auto masked_keys = TYPE(mask(K, padding<kv>(length)));
static_assert(says<decltype(softmax<kv>(TYPE(dot<d_k>(Q, masked_keys))))>(
    "softmax<kv>: a factor of dot(Q, mask(..)) was masked along kv, so its scores are 0 there, and "
    "seen mask the scores instead; if it is meant, where(keep, x, 0) in place of that mask dot(Q, "
    "mask(..))[batch, heads=8, seq, kv]"));
static_assert(says<decltype(normalize<kv>(TYPE(exp(TYPE(dot<d_k>(Q, masked_keys) / sqrt(d_k))))))>(
    "normalize<kv>: a factor of exp(..) was masked along kv, so its scores are 0 there, and seen "
    "mask the scores instead; if it is meant, where(keep, x, 0) in place of that mask "
    "exp(..)[batch, heads=8, seq, kv]"));
static_assert(says<decltype(scaled_dot_product<d_k, kv>(Q, masked_keys, V))>(
    "softmax<kv>: a factor of dot(Q, mask(..)) / sqrt(d_k) was masked along kv, so its scores are "
    "0 there, and seen mask the scores instead; if it is meant, where(keep, x, 0) in place of that "
    "mask dot(Q, mask(..)) / sqrt(d_k)[batch, heads=8, seq, kv]"));
// the keys made of masked rows
static_assert(says<decltype(softmax<kv>(
                  TYPE(dot<d_k>(Q, TYPE(dot<d_model>(TYPE(mask(Xk, padding<kv>(length))), Wq))))))>(
    "softmax<kv>: a factor of dot(Q, dot(mask(..), Wq)) was masked along kv, so its scores are 0 "
    "there, and seen mask the scores instead; if it is meant, where(keep, x, 0) in place of that "
    "mask dot(Q, dot(mask(..), Wq))[batch, heads=8, seq, kv]"));
static_assert(accepted<decltype(softmax<kv>(TYPE(dot<d_k>(Q, where(padding<kv>(length), K, 0)))))>);
static_assert(accepted<decltype(softmax<kv>(TYPE(mask(TYPE(dot<d_k>(Q, masked_keys)),
                                                      padding<kv>(length)))))>);
// what two masked layers give one another
constexpr auto masked_weights = TYPE(softmax<kv>(TYPE(mask(scores, causal<seq, kv>))));
constexpr auto first_layer = TYPE(dot<kv>(masked_weights, V));
static_assert(accepted<decltype(softmax<kv>(TYPE(dot<d_v>(first_layer,
                                                          TYPE(rename<seq, kv>(first_layer))))))>);
constexpr auto gated = TYPE(dot<kv>(TYPE(sigmoid(TYPE(mask(scores, causal<seq, kv>)))), V));
static_assert(accepted<decltype(softmax<kv>(TYPE(dot<d_v>(gated, TYPE(rename<seq, kv>(gated))))))>);
// values
constexpr auto masked_values = TYPE(mask(V, padding<kv>(length)));
static_assert(says<decltype(dot<kv>(weights, masked_values))>(
    "dot<kv>: mask(V, padding(length)) is masked along kv, its weights are not mask the scores; if "
    "it is meant, where(keep, x, 0) in place of that mask softmax(dot(Q, K))[batch, heads=8, seq, "
    "kv] mask(V, padding(length))[batch, heads=8, kv, d_v=32]"));
static_assert(accepted<decltype(dot<kv>(weights, where(padding<kv>(length), V, 0)))>);
static_assert(accepted<decltype(dot<kv>(masked_weights, masked_values))>);
static_assert(accepted<decltype(dot<kv>(plain(weights), masked_values))>);
// linear attention over masked keys
static_assert(accepted<decltype(linear_attention<d_k, kv>(Q, masked_keys, V))>);

// weights over two axes, contracted over one
static_assert(says<decltype(dot<kv>(TYPE(softmax<seq, kv>(scores)), V))>(
    "dot<kv> contracts weights over seq, kv in part did you mean softmax<kv>, or dot<seq, kv>? if "
    "it is meant, plain(..) of the weights softmax(dot(Q, K))[batch, heads=8, seq, kv] V[batch, "
    "heads=8, kv, d_v=32]"));
static_assert(accepted<decltype(dot<kv>(plain(TYPE(softmax<seq, kv>(scores))), V))>);

// weights as scores
static_assert(says<decltype(weights + prior)>(
    "+: prior is added to weights over kv add it to the scores before softmax; if it is meant, "
    "plain(..) of the weights softmax(dot(Q, K))[batch, heads=8, seq, kv] prior[batch, heads=8, "
    "seq, kv]"));
static_assert(says<decltype(weights + alibi<seq, kv>(alibi_slopes(heads)))>(
    "+: alibi<seq, kv> is added to weights over kv add it to the scores before softmax; if it is "
    "meant, plain(..) of the weights softmax(dot(Q, K))[batch, heads=8, seq, kv] alibi<seq, "
    "kv>[heads=8, kv, seq]"));
static_assert(accepted<decltype(scores + prior)> && accepted<decltype(plain(weights) + prior)>);
static_assert(accepted<decltype((weights + where(index(seq) == index(kv), 1, 0)) / 2)>);
static_assert(says<decltype(logsumexp<kv>(weights))>(
    "logsumexp<kv>: softmax(dot(Q, K)) already holds weights over kv take it of the scores; if it "
    "is meant, logsumexp<kv>(plain(..)) softmax(dot(Q, K))[batch, heads=8, seq, kv]"));
static_assert(accepted<decltype(logsumexp<kv>(plain(weights)))>);
static_assert(says<decltype(softmax<kv>(TYPE(dropout<0.1>(scores, 7))))>(
    "softmax<kv>: dropout(dot(Q, K), number) had dropout: what it left out is 0 there, and seen "
    "did you mean dropout<p>(softmax<kv>(..), seed)? if it is meant, plain(..) of the scores "
    "dropout(dot(Q, K), number)[batch, heads=8, seq, kv]"));
static_assert(accepted<decltype(dropout<0.1>(weights, 7))>);
static_assert(accepted<decltype(softmax<kv>(plain(TYPE(dropout<0.1>(scores, 7)))))>);
static_assert(accepted<decltype(softmax<kv>(TYPE(dot<d_k>(TYPE(dropout<0.1>(Q, 7)), K))))>);

// joined otherwise than split
constexpr auto rows = TYPE(split<d_model, heads, d_k>(X));
static_assert(says<decltype(merge<d_model, d_k, heads>(rows))>(
    "merge<d_model, d_k, heads>: split(X) was split as heads, d_k did you mean merge<d_model, "
    "heads, d_k>(split(X))? or to split as d_k, heads? if it is meant, merge plain(..) "
    "split(X)[batch, seq, heads=8, d_k=64]"));
constexpr auto values = TYPE(rename<seq, kv>(rows));
static_assert(says<decltype(merge<d_model, d_k, heads>(TYPE(dot<kv>(weights, values))))>(
    "merge<d_model, d_k, heads>: dot(softmax(dot(Q, K)), rename(split(X))) was split as heads, d_k "
    "did you mean merge<d_model, heads, d_k>(dot(softmax(dot(Q, K)), rename(split(X))))? or to "
    "split as d_k, heads? if it is meant, merge plain(..) dot(softmax(dot(Q, K)), "
    "rename(split(X)))[batch, heads=8, seq, d_k=64]"));
static_assert(accepted<decltype(merge<d_model, heads, d_k>(TYPE(dot<kv>(weights, values))))>);
// queries in groups: through the softmax
constexpr auto grouped =
    TYPE(softmax<kv>(TYPE(dot<d_k>(TYPE(split<heads, kv_heads, group>(Q)), few_keys))));
static_assert(says<decltype(merge<heads, group, kv_heads>(grouped))>(
    "merge<heads, group, kv_heads>: softmax(dot(split(Q), K)) was split as kv_heads, group did you "
    "mean merge<heads, kv_heads, group>(softmax(dot(split(Q), K)))? or to split as group, "
    "kv_heads? if it is meant, merge plain(..) softmax(dot(split(Q), K))[batch, kv_heads=2, "
    "group=4, seq, kv]"));
static_assert(accepted<decltype(merge<heads, kv_heads, group>(grouped))>);
static_assert(accepted<decltype(merge<d_model, d_k, heads>(plain(rows)))>);

// scales
static_assert(says<decltype(scores / sqrt(d_k) / sqrt(d_k))>(
    "sqrt(d_k): dot(Q, K) / sqrt(d_k) was already divided by it leave one out; if it is meant, "
    "sqrt(size(d_k)) dot(Q, K) / sqrt(d_k)[batch, heads=8, seq, kv]"));
static_assert(says<decltype(TYPE(dot<d_k>(TYPE(Q / sqrt(d_k)), K)) * (1 / sqrt(d_k)))>(
    "sqrt(d_k): dot(Q / sqrt(d_k), K) was already divided by it leave one out; if it is meant, "
    "sqrt(size(d_k)) dot(Q / sqrt(d_k), K)[batch, heads=8, seq, kv]"));
static_assert(says<decltype(scores * sqrt(d_k))>(
    "sqrt(d_k): dot(Q, K) is multiplied by the root of what it contracted did you mean / "
    "sqrt(d_k)? if it is meant, sqrt(size(d_k)) dot(Q, K)[batch, heads=8, seq, kv]"));
static_assert(says<decltype(sqrt(d_k) * sqrt(d_k))>(
    "sqrt(d_k) * sqrt(d_k): the root of d_k occurs twice did you mean size(d_k)?"));
static_assert(accepted<decltype(scores / sqrt(d_k) / sqrt(size(d_k)))>);
static_assert(accepted<decltype(X * sqrt(d_model))>);
static_assert(accepted<decltype((scores + 1 / sqrt(d_k)) / sqrt(d_k))>);
static_assert(accepted<decltype(scores / size(d_k))>);

// a param whose size each call decides
constexpr auto alone = [](in<"S", batch, seq> S, param<"w", batch> w) -> out<"O", batch, seq> {
  return S * w;
};
static_assert(says<decltype(kernel<"alone">(alone))>(
    "kernel alone: param w varies along batch axis batch, whose size each call decides did you "
    "mean in<w, ..>, or a size for batch? w[batch]"));
constexpr auto together =
    [](in<"S", batch, seq> S, param<"w", batch> w, param<"v", batch> v) -> out<"O", batch, seq> {
  return S * w + v;
};
static_assert(accepted<decltype(kernel<"together">(together))>);

}  // namespace
