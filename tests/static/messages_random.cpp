// SPDX-License-Identifier: BSL-1.0
// Every text of uniform and dropout.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr in<"seed", i32> seed;
constexpr axis<"a", 2> a;
constexpr axis<"c", 2> c;
constexpr axis<"e", 2> e;

// a seed that is not a whole number
static_assert(
    says<decltype(uniform<seq>(b))>("uniform<seq>: the seed b is f32, not i32 b[d_model=512]"));
static_assert(
    says<decltype(uniform<seq>(0.5))>("uniform<seq>: the seed number is f32, not i32 number[]"));
// several seeds
static_assert(says<decltype(uniform<seq, kv>(length))>(
    "uniform<seq, kv>: the seed length varies along batch length[batch]"));
// too many axes
static_assert(says<decltype(uniform<batch, heads, seq, kv, mem, d_k, a, c, e>(seed))>(
    "uniform<batch, heads, seq, kv, mem, d_k, a, c, e>: the result has more than 8 axes seed[]"));
// no probability
static_assert(says<decltype(dropout<1.5>(weights, seed))>(
    "dropout: p is outside of [0, 1) dropout<p>(x, seed): p is the part that is left out "
    "softmax(dot(Q, K))[batch, heads=8, seq, kv]"));
static_assert(says<decltype(dropout<-1>(X, seed))>(
    "dropout: p is outside of [0, 1) dropout<p>(x, seed): p is the part that is left out X[batch, "
    "seq, d_model=512]"));
static_assert(
    says<decltype(dropout<1>(X, 3))>("dropout: p is outside of [0, 1) dropout<p>(x, seed): p is "
                                     "the part that is left out X[batch, seq, d_model=512]"));
// a seed of one's own for each sequence
static_assert(says<decltype(dropout<0.1>(X, length))>(
    "uniform<batch, seq, d_model>: the seed length varies along batch length[batch]"));
// positions
static_assert(says<decltype(dropout<0.1>(index(seq), 3))>(
    "dropout: index(seq) meets no input of the kernel combine it with a step of the kernel first"));

// Weights stay weights; f64 stays f64; a seed may be reckoned with; 0 leaves everything as it is.
static_assert(detail::of<decltype(dropout<0.1>(weights, seed))>.m.weights.n == 1);
static_assert(detail::of<decltype(dropout<0.1>(step<in<"D", f64, seq>>, seed + 1))>.m.type == f64);
static_assert(std::is_same_v<decltype(dropout<0>(X, seed)), std::remove_const_t<decltype(X)>>);

// The threshold is where numbers of 24 bits are on the same side as for p itself.
static_assert(detail::whole_24(0.5) == 0.5 && detail::whole_24(0.1) >= 0.1 &&
              detail::whole_24(0.1) - 0x1p-24 < 0.1);

}  // namespace
