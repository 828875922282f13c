// SPDX-License-Identifier: BSL-1.0
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
    "softmax: axes belong in <>, operands in () did you mean softmax<kv>(s)?"));
static_assert(says<decltype(dot(Q, K, d_k))>(
    "dot: axes belong in <>, operands in () did you mean dot<d_k>(Q, K)?"));
static_assert(says<decltype(softmax<"kv">(s))>(
    "softmax: axes are given by their C++ names did you mean softmax<kv>, without quotes?"));
static_assert(says<decltype(mask(s, sliding_window<seq, kv>))>(
    "mask: sliding_window is not called write sliding_window(width[, length[, count]])"));
static_assert(says<decltype(mask(s, keep, causal<seq, kv>))>(
    "mask: takes one keep did you mean mask(scores, keep and causal<seq, kv>)?"));
static_assert(says<decltype(scaled_dot_product<d_k, kv>(Q, K, V, true))>(
    "scaled_dot_product is not called with 4 such operands it takes scaled_dot_product(query, key, "
    "value[, keep])"));
static_assert(says<decltype(alibi<seq, kv>(heads))>(
    "alibi: heads is an axis, not a step did you mean alibi_slopes(heads)? it takes alibi(slope[, "
    "length[, count]])"));
static_assert(says<decltype(dropout<0.1>(s))>(
    "dropout is not called with 1 such operand it takes dropout(x, seed)"));
static_assert(says<decltype(scores + alibi<seq, kv>)>(
    "+: alibi is not called write alibi(slope[, length[, count]])"));
static_assert(says<decltype(causal<seq, kv> and sliding_window<seq, kv>)>(
    "and: sliding_window is not called write sliding_window(width[, length[, count]])"));
static_assert(says<decltype(rename(K, kv, seq))>(
    "rename: axes belong in <>, operands in () did you mean rename<kv, seq>(K)?"));
static_assert(says<decltype(split<d_model>(X, heads, d_k))>(
    "split: axes belong in <>, operands in () did you mean split<d_model, heads, d_k>(X)?"));
static_assert(says<decltype(max(s, kv))>(
    "max: kv is an axis, not a number did you mean max<kv>(s), size(kv) or index(kv)?"));
static_assert(says<decltype(mean(X, d_model))>(
    "mean: axes belong in <>, operands in () did you mean mean<d_model>(X)?"));
static_assert(says<decltype(d_k / 2)>("/: d_k is an axis, not a number did you mean size(d_k)?"));
static_assert(says<decltype(multi_head<d_model, seq, kv, heads, d_k, d_v>(X, Wq))>(
    "multi_head is not called with 2 such operands it takes multi_head(X, Wq, Wk, Wv, Wo[, "
    "keep])"));
static_assert(says<decltype(layer_norm<d_model>(X, d_model))>(
    "layer_norm: d_model is an axis, not a step index(d_model) counts its positions, size(d_model) "
    "is how many there are it takes layer_norm(x[, gamma[, beta]][, epsilon])"));
static_assert(says<decltype(slice<seq, kv>(X, 2.5))>(
    "take<seq>: index(kv) + number is f32, not i32 positions are whole numbers: "
    "cast<i32>(index(kv) + number)? X[batch, seq, d_model=512] index(kv) + number[kv]"));

// methods of other libraries' tensors
static_assert(says<decltype(K.transpose(-2, -1))>(
    "a step has no transpose() axes have names, not places: leave it out"));
static_assert(says<decltype(Q.size(-1))>("a step has no size() did you mean size(axis)?"));
static_assert(
    says<decltype(s.softmax())>("a step has no softmax() did you mean softmax<axis>(x)?"));
static_assert(
    says<decltype(matmul(Q, K))>("there is no matmul here did you mean dot<d_k>(Q, K)? "
                                 "Q[batch, heads=8, seq, d_k=64] K[batch, heads=8, kv, d_k=64]"));
static_assert(
    says<decltype(matmul(Q, 1))>("there is no matmul here did you mean dot<axis>(x, y)?"));
static_assert(says<decltype(transpose(K, -2, -1))>(
    "there is no transpose here axes have names, not places: leave it out"));
static_assert(says<decltype(X)::T>("a step has no T axes have names: leave it out"));

static_assert(says<decltype(log_softmax<kv>(s))>(
    "there is no log_softmax here did you mean scores - logsumexp<axis>(scores)?"));
static_assert(says<decltype(matmul<d_k>(Q, K))>(
    "there is no matmul here did you mean dot<d_k>(Q, K)? Q[batch, heads=8, seq, d_k=64] K[batch, "
    "heads=8, kv, d_k=64]"));

// a function of the user is preferred
constexpr auto norm(auto x) { return sqrt(sum<d_model>(x * x)); }
static_assert(traced<decltype(norm(X))>);

// calls of another form
constexpr auto add_up = [](auto state, auto x) { return state + x; };
static_assert(
    says<decltype(softmax(s, -1))>("softmax: axes have names, not places it takes "
                                   "softmax<axes..>(scores) s[batch, heads=8, seq, kv]"));
static_assert(!says<decltype(exp(s, 2))>("exp: axes have names, not places"));
static_assert(says<decltype(cumsum(s, -1))>(
    "cumsum: axes have names, not places it takes cumsum<axis>(x) s[batch, heads=8, seq, kv]"));
static_assert(
    says<decltype(softmax<-1>(s))>("softmax: -1 is not an axis axes are given by their C++ names"));
static_assert(says<decltype(softmax<kv, -1>(s))>(
    "softmax: -1 is not an axis axes are given by their C++ names"));
static_assert(says<decltype(dot<kv>(Q, K, V))>(
    "dot is not called with 3 such operands it takes dot<axes..>(x, y)"));
static_assert(
    says<decltype(rename<seq>(Q))>("rename: 1 axis is named it takes rename<from, to>(x)"));
static_assert(says<decltype(split<heads, d_k>(X))>(
    "split: 2 axes are named it takes split<whole, first, second>(x)"));
static_assert(
    says<decltype(cumsum<seq, d_model>(X))>("cumsum: 2 axes are named it takes cumsum<axis>(x)"));
static_assert(says<decltype(mask(keep, s))>(
    "mask: s is f32, not b8 did you mean mask(s, keep)? s[batch, heads=8, seq, kv]"));
static_assert(says<decltype(mask(s, true))>(
    "mask: a number is the same at all positions did you mean causal<query, key>?"));
static_assert(says<decltype(mask(s, V))>(
    "mask: V is f32, not b8 did you mean V != 0? V[batch, heads=8, kv, d_v=32]"));
static_assert(says<decltype(take<mem>(length, E))>(
    "take<mem>: no axis mem in length did you mean take<mem>(E, length)? length[batch]"));
static_assert(
    says<decltype(rename<mem, kv>(K))>("rename<mem, kv>: no axis mem in K did you mean rename<kv, "
                                       "mem>(K)? K[batch, heads=8, kv, d_k=64]"));
static_assert(says<decltype(split<heads, d_model, d_k>(X))>(
    "split<heads, d_model, d_k>: no axis heads in X did you mean split<d_model, heads, d_k>(X)? "
    "X[batch, seq, d_model=512]"));
// the whole last: the parts keep their order
static_assert(says<decltype(split<heads, d_k, d_model>(X))>(
    "split<heads, d_k, d_model>: no axis heads in X did you mean split<d_model, heads, d_k>(X)? "
    "X[batch, seq, d_model=512]"));
// a function of each number has no axes
static_assert(says<decltype(relu<d_model>(X))>("relu: 1 axis is named it takes relu(x)"));
// a condition beside the scores
static_assert(says<decltype(softmax<kv>(s, causal<seq, kv>))>(
    "softmax: takes the scores alone did you mean softmax<..>(mask(s, causal<seq, kv>))?"));
static_assert(says<decltype(softmax<kv>(s, 0.5))>(
    "softmax: takes the scores alone it takes softmax<axes..>(scores)"));
static_assert(says<decltype(scaled_dot_product<d_k, kv>(Q, V, K))>(
    "dot<d_k>: no axis d_k in V did you mean scaled_dot_product(Q, K, V)? Q[batch, heads=8, seq, "
    "d_k=64] V[batch, heads=8, kv, d_v=32]"));
static_assert(says<decltype(exp(kv))>(
    "exp: kv is an axis, not a number did you mean index(kv) or size(kv)?"));
static_assert(
    says<decltype(tanh("s"))>("tanh: operand 1 is neither a step nor a number it takes tanh(x)"));
static_assert(says<decltype(where(keep, s))>(
    "where is not called with 2 such operands it takes where(condition, yes, no)"));
static_assert(says<decltype(where(kv, s, 0))>(
    "where: kv is an axis, not a number did you mean index(kv) or size(kv)?"));
static_assert(says<decltype(index(Q))>(
    "index: Q is not an axis axes are given by their C++ names Q[batch, heads=8, seq, d_k=64]"));
static_assert(
    says<decltype(size("kv"))>("size: this is not an axis axes are given by their C++ names"));
static_assert(says<decltype(cast<float>(s))>(
    "cast: element types are the values f32, bf16, f16, f64, i32, b8 did you mean cast<f32>(x)?"));
static_assert(says<decltype(cast(s, f32))>(
    "cast: element types are the values f32, bf16, f16, f64, i32, b8 did you mean cast<f32>(x)?"));
static_assert(says<decltype(let("s", s))>(
    "let: the name belongs in <> did you mean let<name>(x), the name in quotes?"));
static_assert(
    says<decltype(let<kv>(s))>("let: a name belongs in quotes s[batch, heads=8, seq, kv]"));
static_assert(
    says<decltype(zeros(seq, d_k))>("zeros: axes belong in <> did you mean zeros<seq, d_k>()?"));
static_assert(says<decltype(zeros(b))>("zeros: axes belong in <> did you mean zeros<d_model>()?"));
static_assert(says<decltype(rsqrt(64))>(
    "rsqrt: takes a step of the kernel, not a number write the number itself"));
static_assert(!refused<decltype(scores / sqrt(64))>);
static_assert(sqrt(0) == 0 && sqrt(-4) != sqrt(-4));
static_assert(says<decltype(scan(zeros<batch, d_model>(), add_up, X))>(
    "scan: 0 axes are named it takes scan<axis>(start, step, x, ..)"));
static_assert(says<decltype(scan<"seq">(zeros<batch, d_model>(), add_up, X))>(
    "scan: axes are given by their C++ names did you mean scan<seq>, without quotes?"));
static_assert(says<decltype(scan<seq>(add_up, zeros<batch, d_model>(), X))>(
    "scan<seq>: the state comes first, then the step it takes scan<axis>(start, step, x, ..), from "
    "zeros<..>() where nothing else is the start"));
static_assert(
    says<decltype(1 - keep)>("-: keep is b8, not a number did you mean !keep? if it is meant, "
                             "where(keep, 1, 0) is a number number[] keep[batch, kv]"));
static_assert(
    says<decltype(~keep)>("~: there is no such operation did you mean !keep? keep[batch, kv]"));
static_assert(says<decltype(s + max<d_k>(Q))>(
    "+: max(Q) would be repeated along kv if it is meant, write broadcast<kv>(max(Q)) s[batch, "
    "heads=8, seq, kv] max(Q)[batch, heads=8, seq]"));
static_assert(says<decltype(dot<d_k>(Q, rename<kv, seq>(K)))>(
    "dot<d_k>: both sides carry seq declare one of them over an alias<.., seq>, or seq as a batch "
    "axis Q[batch, heads=8, seq, d_k=64] rename(K)[batch, heads=8, seq, d_k=64]"));
static_assert(says<decltype(has<batch, seq, kv>(s))>(
    "has<batch, seq, kv>: s also has heads s[batch, heads=8, seq, kv]"));
static_assert(says<decltype(has<batch, heads, seq, kv, mem>(s))>(
    "has<batch, heads, seq, kv, mem>: s lacks mem s[batch, heads=8, seq, kv]"));
static_assert(says<decltype(has<"kv">(s))>(
    "has: axes are given by their C++ names did you mean has<kv>, without quotes?"));
static_assert(says<decltype(reveal(softmax<kv>(mask(s, causal<seq, kv>))))>(
    "reveal: softmax(mask(..)) is f32 softmax(mask(..))[batch, heads=8, seq, kv] weights over kv "
    "masked along kv"));
static_assert(says<decltype(reveal(scores / sqrt(d_k)))>(
    "reveal: dot(Q, K) / sqrt(d_k) is f32 dot(Q, K) / sqrt(d_k)[batch, heads=8, seq, kv] "
    "contracted over d_k divided by sqrt(d_k)"));
static_assert(says<decltype(reveal(Wq))>(
    "reveal: Wq is f32 Wq[d_model=512, heads=8, d_k=64] made of params alone"));
static_assert(!refused<decltype(has<kv, seq, heads, batch>(s))>);
static_assert(!refused<decltype(cast<f16>(s))> && !refused<decltype(max(s, 0))>);

// names that hide functions
constexpr in<"mask", b8, batch, kv> mask_;
constexpr in<"size", i32> size_;
static_assert(
    says<decltype(mask_(s, mask_))>("mask: a step of this name hides the function did you mean "
                                    "qkv::mask(s, mask)? or give the step another name"));
static_assert(says<decltype(mask_(s))>(
    "mask is a condition, not a function did you mean qkv::mask(s, mask)?"));
static_assert(
    says<decltype(size_(kv))>("size: a step of this name hides the function did you mean "
                              "qkv::size(kv)? or give the step another name"));
static_assert(says<decltype(step<decltype(max<kv>(s))>(s, 0.f))>(
    "max: a step of this name hides the function did you mean qkv::max(s, ..)? or give the step "
    "another name"));
static_assert(says<decltype(step<decltype(softmax<kv>(s))> < kv)>(
    "softmax: a step of this name hides the function did you mean qkv::softmax<..>(..)? or give "
    "the step another name"));
static_assert(
    says<decltype(s < kv)>("<: kv is an axis, not a number did you mean index(kv) or size(kv)? or "
                           "does the name of a step hide a function? qkv::name<kv>(..)"));
static_assert(says<decltype(s())>("a step is not a function leave the () out"));
static_assert(says<decltype(s(2))>("a step is not a function leave the () out"));
static_assert(says<decltype(s(s + 1))>(
    "a step is not a function: s did you mean s * (s + number)? or leave the () out"));
static_assert(says<decltype(s(s, s))>("a step is not a function: s leave the () out"));
static_assert(
    says<decltype(keep(s))>("keep is a condition, not a function did you mean mask(s, keep)?"));
static_assert(says<decltype(causal<seq, kv>(length))>(
    "a step is not a function: causal<seq, kv> leave the () out"));

constexpr auto weigh = kernel<"weigh">(
    [](in<"s", batch, seq, kv> x) -> out<"w", batch, seq, kv> { return softmax<kv>(x); });
constexpr auto softmax_ = kernel<"softmax">(
    [](in<"s", batch, seq, kv> x) -> out<"w", batch, seq, kv> { return softmax<kv>(x); });
static_assert(
    says<decltype(weigh(s))>("weigh is a kernel, not a function of steps what kernels share is a "
                             "function or a formula; at run time, call<weigh>(..)"));
static_assert(says<decltype(s + weigh)>(
    "+: weigh is a kernel, not a step what kernels share is a function or a formula"));
static_assert(
    says<decltype(softmax_ < kv)>("softmax: a kernel of this name hides the function did you mean "
                                  "qkv::softmax<..>(..)? or give the kernel another name"));
static_assert(
    says<decltype(softmax_(s, 1))>("softmax: a kernel of this name hides the function did you mean "
                                   "qkv::softmax(s, ..)? or give the kernel another name"));

// arithmetic on axes
static_assert(says<decltype(seq * heads)>(
    "*: seq and heads are axes, not numbers did you mean size(seq) * size(heads)?"));
static_assert(
    says<decltype(seq - kv)>("-: seq and kv are axes, not numbers did you mean index(seq) - "
                             "index(kv) or size(seq) - size(kv)?"));
static_assert(says<decltype(kv <= seq)>(
    "<=: kv and seq are axes, not numbers did you mean index(kv) <= index(seq)?"));
static_assert(says<decltype(max(d_k, d_v))>(
    "max: d_k and d_v are axes, not numbers did you mean max(size(d_k), size(d_v))?"));
static_assert(
    says<decltype(max(d_k, 1))>("max: d_k is an axis, not a number did you mean size(d_k)?"));
static_assert(says<decltype(d_k - 1)>(
    "-: d_k is an axis, not a number did you mean index(d_k) or size(d_k)?"));
static_assert(
    says<decltype(2 * heads)>("*: heads is an axis, not a number did you mean size(heads)?"));
static_assert(says<decltype(1.0 / d_k)>(
    "/: d_k is an axis, not a number did you mean sqrt(d_k) or size(d_k)?"));
static_assert(
    says<decltype(-d_k)>("-: d_k is an axis, not a number did you mean index(d_k) or size(d_k)?"));
static_assert(says<decltype(!heads)>(
    "!: heads is an axis, not a number did you mean index(heads) or size(heads)?"));
static_assert(says<decltype(seq % 2)>(
    "%: seq is an axis, not a number did you mean index(seq) or size(seq)?"));

// scores where a number belongs
static_assert(says<decltype(padding<kv>(s, length))>(
    "padding: s is in the place of the length did you mean mask(s, padding<..>(length))? s[batch, "
    "heads=8, seq, kv]"));
static_assert(says<decltype(sliding_window<seq, kv>(s, 128))>(
    "sliding_window: s is in the place of the width did you mean mask(s, "
    "sliding_window<..>(width))? s[batch, heads=8, seq, kv]"));
static_assert(says<decltype(global_window<seq, kv>(s, 8, 1))>(
    "global_window: s is in the place of the width did you mean mask(s, global_window<..>(width, "
    "globals))? s[batch, heads=8, seq, kv]"));
static_assert(says<decltype(alibi<seq, kv>(s, alibi_slopes(heads)))>(
    "alibi: s is in the place of the slope did you mean s + alibi<..>(slope)? s[batch, heads=8, "
    "seq, kv]"));
constexpr param<"width", heads> width;
static_assert(!refused<decltype(sliding_window<seq, kv>(width))>);

// a number in <> instead of (), and the other way round
static_assert(says<decltype(mask(s, sliding_window<seq, kv, 128>))>(
    "mask: sliding_window<seq, kv> is not called write sliding_window<seq, kv>(128)"));
static_assert(says<decltype(causal<seq, kv> and dilated<seq, kv, 2>)>(
    "and: dilated<seq, kv> is not called write dilated<seq, kv>(2)"));
static_assert(says<decltype(prefix<seq, kv, 10>())>(
    "prefix<seq, kv> is not called with 0 such operands it takes prefix<seq, kv>(10)"));
static_assert(says<decltype(mask(s, global_window<seq, kv, 4, 1>))>(
    "mask: global_window<seq, kv> is not called write global_window<seq, kv>(4, 1)"));
static_assert(says<decltype(mask(s, padding<kv, 12>))>(
    "mask: padding<kv> is not called write padding<kv>(12)"));
static_assert(says<decltype(s + alibi<seq, kv, heads>)>(
    "+: alibi<seq, kv> is not called write alibi<seq, kv>(..)"));
static_assert(
    says<decltype(softcap < 30.f)>("softcap takes nothing in <> write softcap(scores, cap)"));
static_assert(says<decltype(dropout(s, 0.1))>(
    "dropout: the part that is left out goes in <>, a number did you mean dropout<0.1>(x, seed)?"));
static_assert(says<decltype(dropout<kv>(s, 0.1))>(
    "dropout: the part that is left out goes in <>, a number did you mean dropout<0.1>(x, seed)?"));
static_assert(says<decltype(dropout<0.1, 7>(s))>(
    "dropout: the part that is left out goes in <>, a number did you mean dropout<0.1>(x, seed)?"));

}  // namespace
