// SPDX-License-Identifier: BSL-1.0
// The marks of expressions, and the operations that keep them.
#include "spec.hpp"

namespace {

using namespace spec;

template <class T>
constexpr core::marks of = detail::of<std::remove_const_t<T>>.m;
template <auto... Ax>
constexpr core::axes set = core::axes_of<Ax...>();

constexpr in<"B", batch, heads, seq> B;
constexpr axis<"block", 16> block;
constexpr axis<"within"> within;
constexpr batch_axis<"rows"> rows;

// Weights: over one axis or several; kept by scaling, views, names; dropped by functions, plain,
// further axes, sums.
static_assert(of<decltype(weights)>.weights == set<kv> &&
              of<decltype(softmax<seq, kv>(scores))>.weights == set<seq, kv>);
static_assert(of<decltype(let<"w">(weights))>.weights == set<kv> &&
              of<decltype(weights * 2.f)>.weights == set<kv>);
static_assert(of<decltype(weights - weights)>.weights == set<kv> &&
              of<decltype(cast<bf16>(weights))>.weights == set<kv>);
static_assert(of<decltype(rename<kv, mem>(weights))>.weights == set<mem>);
static_assert(of<decltype(split<kv, within, block>(weights))>.weights == set<within, block>);
static_assert(of<decltype(split<heads, kv_heads, group>(weights))>.weights == set<kv>);
static_assert(of<decltype(broadcast<mix>(weights))>.weights == set<kv> &&
              of<decltype(broadcast<mem>(weights))>.weights.empty());
static_assert(of<decltype(exp(weights))>.weights.empty() &&
              of<decltype(plain(weights))>.weights.empty());
static_assert(of<decltype(sum<seq>(weights))>.weights.empty() &&
              of<decltype(weights > 0.5f)>.weights.empty());
static_assert(of<decltype(normalize<seq>(weights))>.weights == set<seq> &&
              of<decltype(where(step<decltype(weights > 0.5f)>, weights, 0.f))>.weights == set<kv>);
static_assert(of<decltype(dot<kv>(weights, V))>.weights.empty());

// The axes that the last dot contracted survive everything up to the weights.
static_assert(of<decltype(scores)>.contracted == set<d_k> &&
              of<decltype(tanh(scores / 2.f))>.contracted == set<d_k>);
static_assert(of<decltype(mask(scores, keep))>.contracted == set<d_k> &&
              of<decltype(weights)>.contracted.empty());
static_assert(of<decltype(dot<kv>(weights, V))>.contracted == set<kv>);
static_assert(of<decltype(sum<d_k>(Q * Q))>.contracted == set<d_k> &&
              of<decltype(mean<d_k>(Q))>.contracted.empty());

// Statistics: also after numbers, params and functions; not of two activations.
static_assert(of<decltype(mean<d_model>(X))>.statistic == set<d_model> &&
              of<decltype(rsqrt(mean<d_model>(X) + 1e-5f))>.statistic == set<d_model>);
static_assert(of<decltype(mean<seq, d_model>(X) * 2.f)>.statistic == set<seq, d_model>);
static_assert(of<decltype(mean<d_model>(X) * sum<seq>(sum<d_model>(X)))>.statistic == set<d_model>);

// Axes along which masks and added terms are constant.
static_assert(of<decltype(mask(scores, index(kv) < length))>.lacks.mask == set<heads, seq>);
static_assert(of<decltype(mask_rows(scores, index(seq) < length))>.lacks.mask.empty());
static_assert(of<decltype(rename<seq, mem>(mask(scores, index(kv) < length)))>.lacks.mask ==
              set<heads, mem>);
static_assert(of<decltype(merge<rows, batch, heads>(mask(scores, causal<seq, kv>)))>.lacks.mask ==
              set<rows>);
static_assert(of<decltype(merge<rows, batch, heads>(mask(scores, keep)))>.lacks.mask == set<seq>);
static_assert(of<decltype(scores + B)>.lacks.bias == set<kv> &&
              of<decltype(tanh(scores + B))>.lacks.bias.empty());
static_assert(
    of<decltype((scores + B) * 2.f)>.lacks.bias == set<kv> &&
    of<decltype((scores + B) * step<decltype(broadcast<seq>(sum<d_k>(K)))>)>.lacks.bias.empty());
static_assert(of<decltype(scores - max<kv>(scores))>.lacks.bias.empty() &&
              of<decltype(scores + 1)>.lacks.bias.empty());
static_assert(of<decltype(scores + (index(kv) - index(seq)))>.lacks.bias == set<batch, heads>);

// Causal masks: the key survives and, combined, and new names; not negation; nor the split of its
// axis.
static_assert(of<decltype(causal<seq, kv> and padding<kv>(length))>.sides.key.at ==
                  core::data_of<kv> &&
              !of<decltype(!causal<seq, kv>)>.sides.key);
static_assert(of<decltype(rename<kv, mem>(mask(scores, causal<seq, kv>)))>.sides.key.at ==
              core::data_of<mem>);
static_assert(!of<decltype(split<kv, within, block>(mask(scores, causal<seq, kv>)))>.sides.key);
static_assert(!of<decltype(causal<seq, kv>)>.sides.unaligned &&
              of<decltype(causal<seq, mem>)>.sides.unaligned &&
              !of<decltype(causal<seq, mem, align::first>)>.sides.unaligned);

// Made of params only; an input, perhaps with numbers and positions.
static_assert(of<decltype(Wq)>.param && of<decltype(exp(Wq) * 2.f)>.param &&
              of<decltype(b + index(d_model))>.param && !of<decltype(X + b)>.param);
static_assert(of<decltype(X)>.given && of<decltype((1 - X) * 2.f)>.given &&
              !of<decltype(X * X)>.given && !of<decltype(exp(X))>.given &&
              of<decltype(rename<seq, kv>(X))>.given && of<decltype(let<"x">(X))>.given);

}  // namespace
