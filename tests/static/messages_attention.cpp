// SPDX-License-Identifier: BSL-1.0
// Every text of the functions of attention/ that they do not take from the operations.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr param<"scale", d_model> scale;
constexpr axis<"d_model", 256> d_model256;
constexpr param<"beta", d_model256> beta256;
constexpr param<"beta", d_k> beta64;
constexpr in<"M", batch, heads, mem, d_k> M;

// a window between unrelated sizes
static_assert(says<decltype(sliding_window<seq, mem>(128))>(
    "sliding_window<seq, mem>: the sizes of seq and mem are unrelated say sliding_window<seq, mem, "
    "align::first> or align::last; over a cache, sliding_window<seq, mem>(width, length)"));
// attention without the rename
static_assert(says<decltype(scaled_dot_product<d_k, kv>(Q, Q, V))>(
    "dot<d_k>: both sides carry seq declare one of them over an alias<.., seq>, or seq as a batch "
    "axis Q[batch, heads=8, seq, d_k=64] Q[batch, heads=8, seq, d_k=64]"));
// over queries
static_assert(says<decltype(scaled_dot_product<d_k, seq>(Q, K, V))>(
    "dot<seq>: no axis seq in V softmax(..)[batch, heads=8, seq, kv] V[batch, heads=8, kv, "
    "d_v=32]"));
// values contracted over the queries
static_assert(says<decltype(dot<seq>(softmax<kv>(scores), V))>(
    "dot<seq>: no axis seq in V the weights are over kv: did you mean dot<kv>? softmax(dot(Q, "
    "K))[batch, heads=8, seq, kv] V[batch, heads=8, kv, d_v=32]"));
// values that lack the keys
static_assert(says<decltype(scaled_dot_product<d_k, mem>(Q, M, V))>(
    "dot<mem>: no axis mem in V softmax(..)[batch, heads=8, seq, mem] V[batch, heads=8, kv, "
    "d_v=32]"));
// with a mask over queries
static_assert(says<decltype(scaled_dot_product<d_k, kv>(Q, K, V, index(seq) < length))>(
    "softmax<kv>: a mask does not vary along kv it empties whole rows; did you mean to mask kv? if "
    "it is meant, mask_rows(scores, keep) mask(.., index(seq) < length)[batch, heads=8, seq, kv]"));
// with query and key swapped
static_assert(says<decltype(scaled_dot_product<d_k, kv>(Q, K, V, causal<kv, seq>))>(
    "softmax<kv>: causal<kv, seq> takes seq as its keys did you mean causal<seq, kv>? mask(.., "
    "causal<kv, seq>)[batch, heads=8, seq, kv]"));
// with a mask over an axis that scores lack
static_assert(says<decltype(scaled_dot_product<d_k, kv>(Q, K, V, padding<mem>(length)))>(
    "mask: keep varies along mem, which dot(Q, K) / sqrt(d_k) lacks dot(Q, K) / sqrt(d_k)[batch, "
    "heads=8, seq, kv] padding(length)[mem, batch]"));
// layer norm over a missing axis
static_assert(says<decltype(layer_norm<d_k>(X, scale, scale))>(
    "layer_norm<d_k>: no axis d_k in X X[batch, seq, d_model=512]"));
// with parameters of another size
static_assert(says<decltype(layer_norm<d_model>(X, scale, beta256))>(
    "layer_norm<d_model>: d_model is 512 in X but 256 in beta X[batch, seq, d_model=512] "
    "beta[d_model=256]"));
// with parameters of another axis
static_assert(says<decltype(layer_norm<d_model>(X, scale, beta64))>(
    "layer_norm<d_model>: beta varies along d_k, which X lacks X[batch, seq, d_model=512] "
    "beta[d_k=64]"));
static_assert(!refused<decltype(layer_norm<d_model>(index(d_model), scale, scale))>);

}  // namespace
