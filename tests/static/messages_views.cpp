// SPDX-License-Identifier: BSL-1.0
// Every text of rename, split, merge, broadcast, let.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr batch_axis<"heads", 7> heads7;
constexpr axis<"d_h", 60> d_h;
constexpr axis<"d_64", 64> d_64;
constexpr axis<"any"> any;
constexpr axis<"d_all", 500> d_all;
constexpr axis<"a", 2> a;
constexpr axis<"c", 2> c;
constexpr axis<"e", 2> e;
constexpr axis<"g", 2> g;
constexpr in<"L", batch, seq, d_model, kv, a, c, e, g> L;

// rename of a missing axis
static_assert(says<decltype(rename<mem, kv>(X))>(
    "rename<mem, kv>: no axis mem in X X[batch, seq, d_model=512]"));
// to an axis that is there
static_assert(says<decltype(rename<seq, d_model>(X))>(
    "rename<seq, d_model>: X already has d_model X[batch, seq, d_model=512]"));
// to another size
static_assert(says<decltype(rename<d_model, d_k>(X))>(
    "rename<d_model, d_k>: d_model is 512 but d_k is 64 X[batch, seq, d_model=512]"));
// to itself
static_assert(says<decltype(rename<seq, seq>(X))>(
    "rename: from and to are the same axis X[batch, seq, d_model=512]"));
// of positions
static_assert(!refused<decltype(rename<seq, kv>(index(seq)))>);
// heads that do not divide d_model
static_assert(says<decltype(split<d_model, heads7, any>(X))>(
    "split<d_model>: 7 heads do not divide d_model=512 (rest 1) divisors near: 4 or 8 X[batch, "
    "seq, d_model=512]"));
// the same with both sizes known
static_assert(says<decltype(split<d_model, heads7, d_h>(X))>(
    "split<d_model>: 7 heads do not divide d_model=512 (rest 1) divisors near: 4 or 8 X[batch, "
    "seq, d_model=512]"));
// sizes that do not multiply
static_assert(says<decltype(split<d_model, heads, d_v>(X))>(
    "split<d_model>: heads * d_v is 256 but d_model is 512 did you mean d_v=64? X[batch, seq, "
    "d_model=512]"));
// a part that does not divide
static_assert(says<decltype(split<d_model, any, d_h>(X))>(
    "split<d_model>: 60 d_h do not divide d_model=512 (rest 32) divisors near: 32 or 64 X[batch, "
    "seq, d_model=512]"));
// split of a missing axis
static_assert(says<decltype(split<d_v, heads, d_64>(X))>(
    "split<d_v, heads, d_64>: no axis d_v in X X[batch, seq, d_model=512]"));
// split into an axis that is there
static_assert(says<decltype(split<d_model, seq, d_k>(X))>(
    "split<d_model, seq, d_k>: X already has seq X[batch, seq, d_model=512]"));
// split into one axis twice
static_assert(says<decltype(split<d_model, any, any>(X))>(
    "split: the axes must differ X[batch, seq, d_model=512]"));
// split of positions
static_assert(!refused<decltype(split<d_model, heads, d_k>(index(d_model)))>);
// too many axes
static_assert(says<decltype(split<d_model, heads, d_k>(L))>(
    "split<d_model, heads, d_k>: the result has more than 8 axes L[batch, seq, d_model=512, kv, "
    "a=2, c=2, e=2, g=2]"));
// merge of a missing axis
static_assert(says<decltype(merge<d_model, heads, d_v>(Q))>(
    "merge<d_model, heads, d_v>: no axis d_v in Q Q[batch, heads=8, seq, d_k=64]"));
// merge into an axis that is there
static_assert(says<decltype(merge<seq, heads, d_k>(Q))>(
    "merge<seq, heads, d_k>: Q already has seq Q[batch, heads=8, seq, d_k=64]"));
// merge into another size
static_assert(says<decltype(merge<d_all, heads, d_k>(Q))>(
    "merge<d_all>: 8 heads do not divide d_all=500 (rest 4) divisors near: 5 or 10 Q[batch, "
    "heads=8, seq, d_k=64]"));
// merge into a size that is not the product
static_assert(says<decltype(merge<hidden, heads, d_k>(Q))>(
    "merge<hidden>: heads * d_k is 512 but hidden is 2048 did you mean d_k=256? Q[batch, heads=8, "
    "seq, d_k=64]"));
// merge of one axis twice
static_assert(says<decltype(merge<d_model, heads, heads>(Q))>(
    "merge: the axes must differ Q[batch, heads=8, seq, d_k=64]"));
// merge of positions
static_assert(!refused<decltype(merge<d_model, heads, d_k>(index(heads) * index(d_k)))>);
// broadcast along an axis that is there
static_assert(says<decltype(broadcast<mem, seq>(X))>(
    "broadcast<mem, seq>: X already has seq X[batch, seq, d_model=512]"));
// along none
static_assert(
    says<decltype(broadcast<>(X))>("broadcast: names no axis X[batch, seq, d_model=512]"));
// of positions
static_assert(!refused<decltype(broadcast<kv>(index(seq)))>);
// too many axes
static_assert(
    says<decltype(broadcast<heads>(L))>("broadcast<heads>: the result has more than 8 axes "
                                        "L[batch, seq, d_model=512, kv, a=2, c=2, e=2, g=2]"));
// a long name stays whole
static_assert(
    says<decltype(rename<mem, kv>(
        step<decltype(exp(step<decltype(let<"normalised_attention_scores">(scores))>))>))>(
        "rename<mem, kv>: no axis mem in exp(normalised_attention_scores) did you mean rename<kv, "
        "mem>(exp(normalised_attention_scores))? exp(normalised_attention_scores)[batch, heads=8, "
        "seq, kv]"));
// a name that is none
static_assert(
    says<decltype(let<"my scores">(scores))>("let my scores: a name is a letter, then letters, "
                                             "digits or _ dot(Q, K)[batch, heads=8, seq, kv]"));

}  // namespace
