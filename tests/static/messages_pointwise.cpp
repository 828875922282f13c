// SPDX-License-Identifier: BSL-1.0
// Every text of + - * / min max pow, comparisons, and, or, not, where.
#include "spec.hpp"

namespace {

using namespace spec;

constexpr axis<"d_model", 256> d_model256;
constexpr in<"Y", batch, seq, d_model256> Y;
constexpr in<"M", batch, kv, d_model> M;
constexpr in<"R", batch, seq> R;
constexpr in<"P", batch, mem> P;
constexpr in<"n", i32, batch, seq> n;
constexpr in<"D", f64, batch, seq> D;
constexpr in<"H", f16, batch, seq> H;
constexpr param<"w", d_model> w;
constexpr param<"u", heads, d_k> u;
constexpr axis<"a", 2> a;
constexpr axis<"c", 2> c;
constexpr axis<"e", 2> e;
constexpr in<"L", batch, heads, seq, a, c, e> L;
constexpr axis<"d_rope", 32> d_rope;
constexpr axis<"d_qk", 96> d_qk;
constexpr in<"Qr", batch, heads, seq, d_rope> Qr;
constexpr in<"Kr", batch, heads, kv, d_rope> Kr;
constexpr auto row = step<decltype(dot<d_model>(X, w))>;

// static sizes that differ
static_assert(says<decltype(X - rename<seq, kv>(X))>(
    "-: neither side contains the other if it is meant, broadcast<kv>(X) and "
    "broadcast<seq>(rename(X)) X[batch, seq, d_model=512] rename(X)[batch, kv, d_model=512]"));
static_assert(says<decltype(X + Y)>(
    "+: d_model is 512 in X but 256 in Y X[batch, seq, d_model=512] Y[batch, seq, d_model=256]"));
// a forgotten rename
static_assert(says<decltype(X * M)>(
    "*: neither side contains the other did you mean dot<d_model>(X, M)? or rename<kv, seq>(M)? "
    "X[batch, seq, d_model=512] M[batch, kv, d_model=512]"));
// unrelated shapes
static_assert(
    says<decltype(R * P)>("*: neither side contains the other if it is meant, broadcast<mem>(R) "
                          "and broadcast<seq>(P) R[batch, seq] P[batch, mem]"));
// a bias of the wrong shape
static_assert(says<decltype(step<decltype(dot<d_model>(X, Wq))> + b)>(
    "+: b varies along d_model, which dot(X, Wq) lacks dot(X, Wq)[batch, seq, heads=8, d_k=64] "
    "b[d_model=512]"));
// an outer product
static_assert(
    says<decltype(R - P)>("-: neither side contains the other if it is meant, broadcast<mem>(R) "
                          "and broadcast<seq>(P) R[batch, seq] P[batch, mem]"));
// a residual onto a contracted vector
static_assert(says<decltype(X + row)>(
    "+: dot(X, w) would be repeated along d_model if it is meant, write broadcast<d_model>(dot(X, "
    "w)) X[batch, seq, d_model=512] dot(X, w)[batch, seq]"));
// and the other way round
static_assert(says<decltype(row - X)>(
    "-: dot(X, w) would be repeated along d_model if it is meant, write broadcast<d_model>(dot(X, "
    "w)) dot(X, w)[batch, seq] X[batch, seq, d_model=512]"));
// a term per query
static_assert(says<decltype(scores + step<decltype(dot<d_k>(u, Q))>)>(
    "+: dot(u, Q) would be repeated along kv in a softmax over kv it cancels if it is meant, write "
    "broadcast<kv>(dot(u, Q)) dot(Q, K)[batch, heads=8, seq, kv] dot(u, Q)[heads=8, batch, seq]"));
// a term per key
static_assert(says<decltype(scores + step<decltype(dot<d_k>(u, K))>)>(
    "+: dot(u, K) would be repeated along seq in a softmax over seq it cancels if it is meant, "
    "write broadcast<seq>(dot(u, K)) dot(Q, K)[batch, heads=8, seq, kv] dot(u, K)[heads=8, batch, "
    "kv]"));
// a bias of the positions of keys, which are an alias of the queries
constexpr in<"places", batch, kv> places;
static_assert(!refused<decltype(scores + step<decltype(places * places)>)>);
// norms over what was contracted: |q - k|^2
static_assert(
    !refused<decltype(scores - step<decltype(rename<seq, kv>(step<decltype(sum<d_k>(Q))>))>)>);
// min
static_assert(says<decltype(min(R, P))>(
    "min: neither side contains the other if it is meant, broadcast<mem>(R) and broadcast<seq>(P) "
    "R[batch, seq] P[batch, mem]"));
// max
static_assert(says<decltype(max(R, P))>(
    "max: neither side contains the other if it is meant, broadcast<mem>(R) and broadcast<seq>(P) "
    "R[batch, seq] P[batch, mem]"));
// pow
static_assert(says<decltype(pow(R, P))>(
    "pow: neither side contains the other if it is meant, broadcast<mem>(R) and broadcast<seq>(P) "
    "R[batch, seq] P[batch, mem]"));
// /
static_assert(
    says<decltype(R / P)>("/: neither side contains the other if it is meant, broadcast<mem>(R) "
                          "and broadcast<seq>(P) R[batch, seq] P[batch, mem]"));
// scale by an axis that was not contracted
static_assert(says<decltype(scores / sqrt(d_model))>(
    "sqrt(d_model): d_model was not contracted here did you mean sqrt(d_k)? if it is meant, "
    "sqrt(size(d_model)) dot(Q, K)[batch, heads=8, seq, kv]"));
// absorbed projections scale by another size
static_assert(says<decltype(scores / sqrt(d_v))>(
    "sqrt(d_v): d_v was not contracted here did you mean sqrt(d_k)? if it is meant, "
    "sqrt(size(d_v)) dot(Q, K)[batch, heads=8, seq, kv]"));
// the same as a factor
static_assert(says<decltype(scores * step<decltype(1.f / sqrt(d_v))>)>(
    "sqrt(d_v): d_v was not contracted here did you mean sqrt(d_k)? if it is meant, "
    "sqrt(size(d_v)) dot(Q, K)[batch, heads=8, seq, kv]"));
// no contraction at all
static_assert(says<decltype(R / sqrt(d_k))>(
    "sqrt(d_k): d_k was not contracted here if it is meant, write sqrt(size(d_k)) R[batch, seq]"));
// a result in place of its scores
static_assert(says<decltype(attended / sqrt(d_k))>(
    "sqrt(d_k): d_k was not contracted here did you mean to divide the scores before softmax? if "
    "it is meant, sqrt(size(d_k)) dot(softmax(dot(Q, K)), V)[batch, heads=8, seq, d_v=32]"));
// the number of keys
static_assert(says<decltype(scores / sqrt(kv))>(
    "sqrt(kv): kv was not contracted here did you mean sqrt(d_k)? if it is meant, sqrt(size(kv)) "
    "dot(Q, K)[batch, heads=8, seq, kv]"));
// queries and keys of two parts: the root of both sizes, or of an axis of that size
constexpr auto both_parts = step<decltype(scores + step<decltype(dot<d_rope>(Qr, Kr))>)>;
static_assert(says<decltype(both_parts / sqrt(d_model))>(
    "sqrt(d_model): d_model was not contracted here did you mean sqrt(size(d_k) + size(d_rope))? "
    "if it is meant, sqrt(size(d_model)) dot(Q, K) + dot(Qr, Kr)[batch, heads=8, seq, kv]"));
static_assert(!refused<decltype(both_parts / sqrt(size(d_k) + size(d_rope)))>);
static_assert(!refused<decltype(both_parts / sqrt(d_qk))>);
static_assert(requires { scores / sqrt(size(kv)); });
static_assert(requires { dot<d_model>(X, Wq) / sqrt(d_k); });
// positions of an axis that scores lack
static_assert(says<decltype(scores + index(mem))>(
    "+: index(mem) varies along mem, which dot(Q, K) lacks dot(Q, K)[batch, heads=8, seq, kv]"));
// on the left, too
static_assert(says<decltype(index(mem) * scores)>(
    "*: index(mem) varies along mem, which dot(Q, K) lacks dot(Q, K)[batch, heads=8, seq, kv]"));
// not beside places of some rows alone
static_assert(requires { dot<d_model>(X, w) - index(mem); });
// a param of other axes than what no product made
static_assert(
    says<decltype(R - w)>("-: w varies along d_model, which R lacks if it is meant, write "
                          "broadcast<d_model>(R) R[batch, seq] w[d_model=512]"));
// the maximum so far, which moves all scores of a query alike
static_assert(requires { scores - max(R, max<kv>(scores)); });
static_assert(says<decltype(scores - max(R, max<d_model>(X)))>(
    "-: max(R, max(X)) would be repeated along kv if it is meant, write broadcast<kv>(max(R, "
    "max(X))) dot(Q, K)[batch, heads=8, seq, kv] max(R, max(X))[batch, seq]"));
// comparison of two sizes
static_assert(says<decltype(X < Y)>(
    "<: d_model is 512 in X but 256 in Y X[batch, seq, d_model=512] Y[batch, seq, d_model=256]"));
// and of numbers
static_assert(
    says<decltype(keep and n)>("and: n is i32, not b8 did you mean n != 0? n[batch, seq]"));
// or of positions
static_assert(says<decltype(index(kv) or keep)>(
    "or: index(kv) is i32, not b8 did you mean index(kv) != 0? index(kv)[kv]"));
static_assert(
    says<decltype(!index(kv))>("not: index(kv) is i32, not b8 did you mean !(index(kv) < ..)? ! "
                               "binds more tightly than < index(kv)[kv]"));
// a distance
static_assert(says<decltype(mask(dot<d_k>(Q, K), index(seq) - index(mem)))>(
    "mask: index(seq) - index(mem) is i32, not b8 did you mean index(seq) - index(mem) >= 0? "
    "index(seq) - index(mem)[seq, mem]"));
// not of numbers
static_assert(says<decltype(!n)>("not: n is i32, not b8 did you mean n != 0? n[batch, seq]"));
// one name, two axes in positions
static_assert(says<decltype(index(d_model256) < X)>(
    "<: d_model is 256 in index(d_model) but 512 in X index(d_model)[d_model=256] X[batch, seq, "
    "d_model=512]"));
// f64 with f32
static_assert(says<decltype(D + R)>(
    "+: D is f64 but R is f32 did you mean cast<f64>(R)? D[batch, seq] R[batch, seq]"));
// with 16 bits, on the left
static_assert(says<decltype(H < D)>(
    "<: H is f16 but D is f64 did you mean cast<f64>(H)? H[batch, seq] D[batch, seq]"));
// f32 with positions in f64
static_assert(says<decltype(R * step<decltype(cast<f64>(index(seq)))>)>(
    "*: R is f32 but cast(index(seq)) is f64 did you mean cast<f64>(R)? R[batch, seq] "
    "cast(index(seq))[seq]"));
// in a choice
static_assert(says<decltype(where(R > 0, D, R))>(
    "where: D is f64 but R is f32 did you mean cast<f64>(R)? D[batch, seq] R[batch, seq]"));
// where without a condition
static_assert(
    says<decltype(where(n, X, 0.f))>("where: n is i32, not b8 did you mean n != 0? n[batch, seq]"));
// where over unrelated shapes
static_assert(says<decltype(where(keep, R, P))>(
    "where: no side contains the others if it is meant, write broadcast<kv, mem>(R) keep[batch, "
    "kv] R[batch, seq] P[batch, mem]"));
// where of two sizes
static_assert(says<decltype(where(X < 0.f, X, Y))>(
    "where: d_model is 512 in X < number but 256 in Y X < number[batch, seq, d_model=512] Y[batch, "
    "seq, d_model=256]"));
// where with a causal mask that is not aligned
static_assert(says<decltype(where(causal<seq, mem>, step<decltype(dot<d_model>(X, E))>, 0.f))>(
    "causal<seq, mem>: the sizes of seq and mem are unrelated say causal<seq, mem, align::first> "
    "or align::last; over a cache, cached_causal causal<seq, mem>[mem, seq]"));
// the same, inverted: its axes are unknown
static_assert(says<decltype(where(!causal<seq, mem>, step<decltype(dot<d_model>(X, E))>, 0.f))>(
    "!causal<seq, mem>: made of a causal mask between axes of unrelated size say causal<query, "
    "key, align::first> or align::last !causal<seq, mem>[mem, seq]"));
// too many axes
static_assert(says<decltype(L * index(kv) * index(mem) * index(d_k))>(
    "*: the result has more than 8 axes (L * index(kv)) * index(mem)[batch, heads=8, seq, a=2, "
    "c=2, e=2, kv, mem] index(d_k)[d_k=64]"));
// too many axes in a comparison
static_assert(
    says<decltype(L < step<decltype(step<decltype(index(kv) + index(mem))> + index(d_k))>)>(
        "<: the result has more than 8 axes L[batch, heads=8, seq, a=2, c=2, e=2] (..) + "
        "index(d_k)[kv, mem, d_k=64]"));
// too many axes in a choice
static_assert(says<decltype(where(index(kv) < index(mem), L, index(d_k)))>(
    "where: the result has more than 8 axes index(kv) < index(mem)[kv, mem] L[batch, heads=8, seq, "
    "a=2, c=2, e=2] index(d_k)[d_k=64]"));

}  // namespace
