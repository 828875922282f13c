// SPDX-License-Identifier: BSL-1.0
#pragma once
// Kernels that between them reach every rule of the code generator: each is compared with the
// interpreter on many sizes.
#include <qkv/dsl.hpp>

namespace specs {
using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 3> heads;
inline constexpr batch_axis<"kv_heads", 2> kv_heads;
inline constexpr batch_axis<"q_heads", 6> q_heads;
inline constexpr axis<"group", 3> group;
inline constexpr batch_axis<"channel"> channel;
inline constexpr axis<"seq"> seq;
inline constexpr axis<"mem"> mem;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d_model", 48> d_model;
inline constexpr axis<"d_k", 32> d_k;
inline constexpr alias<"d_k2", d_k> d_k2;
inline constexpr axis<"d_v", 64> d_v;
inline constexpr axis<"odd_k", 20> odd_k;
inline constexpr axis<"odd_v", 28> odd_v;
inline constexpr axis<"any_k"> any_k;
inline constexpr axis<"any_v"> any_v;
inline constexpr axis<"hidden", 96> hidden;
inline constexpr axis<"wide", 128> wide;
inline constexpr axis<"past"> past;
inline constexpr axis<"slots"> slots;
inline constexpr axis<"pages"> pages;
inline constexpr axis<"blocks"> blocks;
inline constexpr axis<"slot", 16> slot;
inline constexpr axis<"shards"> shards;
inline constexpr axis<"all"> all;
inline constexpr axis<"positions", 24> positions;
inline constexpr axis<"two", 2> two;
inline constexpr axis<"half", 16> half;

using Q_ = in<"Q", batch, heads, seq, d_k>;
using K_ = in<"K", batch, heads, mem, d_k>;
using V_ = in<"V", batch, heads, mem, d_v>;

// ---- attention ----------------------------------------------------------------------------------
inline constexpr auto full =
    kernel<"full">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
      return dot<mem>(softmax<mem>(dot<d_k>(Q, K) / sqrt(d_k)), V);
    });

// Keys that are computed and values in another order, of a query's chunk or the one before.
inline constexpr auto computed_sides = kernel<"computed_sides">(
    [](Q_ Q, in<"K", batch, heads, kv, d_k> K, in<"V", batch, heads, d_v, kv> V,
       param<"a", heads, d_k> a) -> out<"O", batch, heads, seq, d_v> {
      auto chunk = [](auto position) { return cast<i32>(position / 5); };
      auto before = take<kv>(K, max(index(kv) - 1, 0));
      auto seen = chunk(index(seq)) - chunk(index(kv)) <= 1 && 2 * index(kv) <= 3 * index(seq) + 1;
      return scaled_dot_product<d_k, kv>(Q, a * K + before, V, seen);
    });

// Rows that are computed before they are contracted, along one axis and along two.
inline constexpr auto computed_rows = kernel<"computed_rows">(
    [](in<"A", batch, heads, seq, d_k> A, in<"G", batch, seq, heads, d_k> G,
       param<"W", heads, d_k, d_model> W, in<"X", seq, any_k> X, in<"g", any_k> g,
       in<"M", any_k, any_v> M) -> outs<out<"Y", batch, seq, d_model>, out<"Z", seq, any_v>> {
      return {dot<heads, d_k>(A * sigmoid(G), W), dot<any_k>(X * g, M)};
    });

// A bias of each head, of features of each pair that all heads share.
inline constexpr auto pair_features =
    kernel<"pair_features">([](Q_ Q, K_ K, V_ V, in<"E", batch, seq, mem, half> E,
                               param<"W", half, heads> W) -> out<"O", batch, heads, seq, d_v> {
      return dot<mem>(softmax<mem>(dot<d_k>(Q, K) / sqrt(d_k) + dot<half>(E, W)), V);
    });

// Sums over an axis that is not the innermost one in memory, and one that rows are gathered along.
inline constexpr auto sums_beside_channels = kernel<"sums_beside_channels">(
    [](in<"T", seq, kv, channel> T, in<"X", batch, kv, channel> X,
       in<"at", i32, batch, seq, group> at)
        -> outs<out<"Y", batch, seq, channel>, out<"Z", batch, seq, channel>> {
      return {dot<kv>(T, X), sum<group>(take<kv>(X, at))};
    });

// Weights, biases and sums of positions alone, beside scores that have some.
inline constexpr auto of_positions = kernel<"of_positions">(
    [](Q_ Q, in<"K", batch, heads, kv, d_k> K, in<"V", batch, heads, kv, d_v> V,
       in<"X", batch, seq, any_v> X)
        -> outs<out<"O", batch, heads, seq, d_v>, out<"biased", batch, heads, seq, d_v>,
                out<"later", batch, any_v>, out<"placed", batch, seq, any_v>> {
      auto far = index(kv) - index(seq);
      auto near = softmax<kv>(mask(far * far * -0.5, index(kv) <= index(seq)));
      auto waves = sum<half>(cos(far * pow(100.0, index(half) * -1.0 / size(half))));
      auto w = softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k) + waves);
      auto places = cumsum<seq>(index(seq) + 1.0) / max<seq>(index(seq) + 1.0);
      return {dot<kv>(broadcast<batch, heads>(near), V), dot<kv>(w, V),
              dot<seq>(broadcast<batch>(normalize<seq>(index(seq) + 1.0)), X), X * places};
    });

inline constexpr auto unscaled_odd =
    kernel<"unscaled_odd">([](in<"Q", batch, seq, odd_k> Q, in<"K", batch, mem, odd_k> K,
                              in<"V", batch, mem, odd_v> V) -> out<"O", batch, seq, odd_v> {
      return dot<mem>(softmax<mem>(dot<odd_k>(Q, K)), V);
    });

inline constexpr auto run_time_widths = kernel<"run_time_widths">([
](in<"Q", seq, any_k> Q, in<"K", mem, any_k> K, in<"V", mem, any_v> V) -> out<"O", seq, any_v> {
  return dot<mem>(softmax<mem>(dot<any_k>(Q, K) / sqrt(any_k)), V);
});

inline constexpr auto widths_and_lse = kernel<"widths_and_lse">(
    [](in<"Q", seq, any_k> Q, in<"K", mem, any_k> K,
       in<"V", mem, any_v> V) -> outs<out<"O", seq, any_v>, out<"lse", seq>> {
      auto s = dot<any_k>(Q, K) / sqrt(any_k);
      return {dot<mem>(softmax<mem>(s), V), logsumexp<mem>(s)};
    });

inline constexpr auto causal_self = kernel<"causal_self">(
    [](Q_ Q, in<"K", batch, heads, kv, d_k> K, in<"V", batch, heads, kv, d_v> V)
        -> outs<out<"O", batch, heads, seq, d_v>, out<"lse", batch, heads, seq>> {
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) <= index(seq));
      return {dot<kv>(softmax<kv>(s), V), logsumexp<kv>(s)};
    });

inline constexpr auto causal_last =
    kernel<"causal_last">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(mem) <= index(seq) + size(mem) - size(seq));
      return dot<mem>(softmax<mem>(s), V);
    });

inline constexpr auto window =
    kernel<"window">([](Q_ Q, in<"K", batch, heads, kv, d_k> K,
                        in<"V", batch, heads, kv, d_v> V) -> out<"O", batch, heads, seq, d_v> {
      auto near = index(kv) <= index(seq) and index(seq) - index(kv) < 70;
      return dot<kv>(softmax<kv>(mask(dot<d_k>(Q, K), near)), V);
    });

// The call decides how far a query sees: the mask compares with values read from memory.
inline constexpr auto window_of_call = kernel<"window_of_call">(
    [](Q_ Q, in<"K", batch, heads, kv, d_k> K, in<"V", batch, heads, kv, d_v> V,
       in<"width", i32> width) -> out<"O", batch, heads, seq, d_v> {
      auto near = causal<seq, kv> and sliding_window<seq, kv>(width);
      return dot<kv>(softmax<kv>(mask(dot<d_k>(Q, K) / sqrt(d_k), near)), V);
    });

// Positions counted from far away, as in a part of a long text.
inline constexpr auto far_positions =
    kernel<"far_positions">([](Q_ Q, K_ K, V_ V, in<"first_query", i32> first_query,
                               in<"first_key", i32> first_key) -> out<"O", batch, heads, seq, d_v> {
      auto seen = index(mem) + first_key <= index(seq) + first_query;
      return dot<mem>(softmax<mem>(mask(dot<d_k>(Q, K) / sqrt(d_k), seen)), V);
    });

// So is whether there are scores at all.
inline constexpr auto chosen_by_call =
    kernel<"chosen_by_call">([](Q_ Q, K_ K, V_ V, in<"flag", b8, batch> flag,
                                in<"n", i32, heads> n) -> out<"O", batch, heads, seq, d_v> {
      auto some = dot<d_k>(mask(Q, index(d_k) < 10 * n), K);
      return dot<mem>(softmax<mem>(mask_rows(where(flag, some, 1), n > 0)), V);
    });

inline constexpr auto padding = kernel<"padding">(
    [](Q_ Q, K_ K, V_ V, in<"len", i32, batch> len) -> out<"O", batch, heads, seq, d_v> {
      return dot<mem>(softmax<mem>(mask(dot<d_k>(Q, K) / sqrt(d_k), index(mem) < len)), V);
    });

inline constexpr auto boolean_mask = kernel<"boolean_mask">(
    [](Q_ Q, K_ K, V_ V, in<"keep", b8, batch, seq, mem> keep) -> out<"O", batch, heads, seq, d_v> {
      return dot<mem>(softmax<mem>(mask(dot<d_k>(Q, K) / sqrt(d_k), keep)), V);
    });

inline constexpr auto document =
    kernel<"document">([](Q_ Q, K_ K, V_ V, in<"a", i32, batch, seq> a,
                          in<"b", i32, batch, mem> b) -> out<"O", batch, heads, seq, d_v> {
      return dot<mem>(softmax<mem>(mask(dot<d_k>(Q, K) / sqrt(d_k), a == b)), V);
    });

// Masks of data that hide whole blocks from whole tiles: short documents in a row; keys that are
// all kept or all hidden; positions that come with the call.
inline constexpr auto packed =
    kernel<"packed">([](in<"Q", batch, heads, seq, d_k> Q, in<"K", batch, heads, kv, d_k> K,
                        in<"V", batch, heads, kv, d_v> V, in<"begins", b8, batch, seq> begins)
                         -> outs<out<"O", batch, heads, seq, d_v>, out<"lse", batch, heads, seq>> {
      auto id = cumsum<seq>(where(begins, 1, 0));
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), qkv::document<seq, kv>(id) and causal<seq, kv>);
      return {dot<kv>(softmax<kv>(s), V), logsumexp<kv>(s)};
    });
inline constexpr auto kept_keys =
    kernel<"kept_keys">([](Q_ Q, K_ K, V_ V, in<"from", i32, batch> from,
                           in<"keep", b8, mem> keep) -> out<"O", batch, heads, seq, d_v> {
      auto far = index(mem) >= 3 * from and index(mem) < 20 * from;
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), (keep or far) and not(far and not keep));
      return dot<mem>(softmax<mem>(s), V);
    });
inline constexpr auto placed_tokens = kernel<"placed_tokens">(
    [](Q_ Q, K_ K, V_ V, in<"steps", i32, batch, seq> steps,
       in<"key_steps", i32, batch, mem> key_steps) -> out<"O", batch, heads, seq, d_v> {
      auto at = broadcast<mem>(cumsum<seq>(steps) - 40);
      auto key_at = broadcast<seq>(cumsum<mem>(key_steps));
      auto seen = key_at <= at and at - key_at < 60 and key_at != at;
      return dot<mem>(softmax<mem>(mask(dot<d_k>(Q, K) / sqrt(d_k), seen)), V);
    });

// Features and columns that fill no vectors.
inline constexpr axis<"d50", 50> d50;
inline constexpr axis<"d100", 100> d100;
inline constexpr axis<"d36", 36> d36;
inline constexpr auto odd_heads =
    kernel<"odd_heads">([](in<"Q", batch, heads, seq, d50> Q, in<"K", batch, heads, kv, d50> K,
                           in<"V", batch, heads, kv, d100> V,
                           in<"len", i32, batch> len) -> out<"O", batch, heads, seq, d100> {
      return dot<kv>(softmax<kv>(mask(dot<d50>(Q, K) / sqrt(d50), index(kv) < len)), V);
    });
inline constexpr auto odd_heads_bf16 = kernel<"odd_heads_bf16">(
    [](in<"Q", bf16, batch, heads, seq, d36> Q, in<"K", bf16, batch, heads, kv, d36> K,
       in<"V", bf16, batch, heads, kv, d50> V)
        -> outs<out<"O", bf16, batch, heads, seq, d50>, out<"lse", batch, heads, seq>> {
      auto s = mask(dot<d36>(Q, K) / sqrt(d36), causal<seq, kv>);
      return {dot<kv>(softmax<kv>(s), V), logsumexp<kv>(s)};
    });

// Pairs whose queries lie side by side in memory.
inline constexpr auto keys_first = kernel<"keys_first">(
    [](Q_ Q, in<"K", batch, heads, kv, d_k> K, in<"V", batch, heads, kv, d_v> V,
       in<"bias", heads, kv, seq> bias, in<"slope", f16, kv, seq> slope,
       in<"keep", b8, batch, kv, seq> keep) -> out<"O", batch, heads, seq, d_v> {
      return dot<kv>(softmax<kv>(mask(dot<d_k>(Q, K) + bias + slope, keep)), V);
    });

inline constexpr auto biased = kernel<"biased">(
    [](Q_ Q, K_ K, V_ V, in<"bias", heads, seq, mem> bias) -> out<"O", batch, heads, seq, d_v> {
      return dot<mem>(softmax<mem>(dot<d_k>(Q, K) / sqrt(d_k) + bias), V);
    });

inline constexpr auto alibi =
    kernel<"alibi">([](Q_ Q, in<"K", batch, heads, kv, d_k> K, in<"V", batch, heads, kv, d_v> V,
                       param<"slope", heads> slope) -> out<"O", batch, heads, seq, d_v> {
      auto s = dot<d_k>(Q / sqrt(d_k), K) + slope * (index(kv) - index(seq));
      return dot<kv>(softmax<kv>(mask(s, index(kv) <= index(seq))), V);
    });

inline constexpr auto softcapped =
    kernel<"softcapped">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
      auto s = 5.f * tanh(dot<d_k>(Q, K) / sqrt(d_k) / 5.f);
      return dot<mem>(softmax<mem>(s), V);
    });

inline constexpr auto shifted =
    kernel<"shifted">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
      return dot<mem>(softmax<mem>(s - max<mem>(s)), V);
    });

inline constexpr auto grouped = kernel<"grouped">(
    [](in<"Q", batch, q_heads, seq, d_k> Q, in<"K", batch, kv_heads, mem, d_k> K,
       in<"V", batch, kv_heads, mem, d_v> V) -> out<"O", batch, q_heads, seq, d_v> {
      auto s = dot<d_k>(split<q_heads, kv_heads, group>(Q), K) / sqrt(d_k);
      return merge<q_heads, kv_heads, group>(dot<mem>(softmax<mem>(s), V));
    });

inline constexpr auto single_query = kernel<"single_query">(
    [](in<"q", d_k> q, in<"K", mem, d_k> K, in<"V", mem, d_v> V) -> out<"o", d_v> {
      return dot<mem>(softmax<mem>(dot<d_k>(q, K) / sqrt(d_k)), V);
    });

inline constexpr auto relu_weights =
    kernel<"relu_weights">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
      return dot<mem>(normalize<mem>(relu(s) * relu(s) + 1e-3f), V);
    });

inline constexpr auto softplus_causal = kernel<"softplus_causal">(
    [](Q_ Q, in<"K", batch, heads, kv, d_k> K,
       in<"V", batch, heads, kv, d_v> V) -> out<"O", batch, heads, seq, d_v> {
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) <= index(seq));
      return dot<kv>(normalize<kv>(log(exp(s) + 1.f)), V);
    });

inline constexpr auto bahdanau =
    kernel<"bahdanau">([](in<"Q", batch, seq, d_k> Q, in<"K", batch, mem, d_v> K,
                          param<"Wq", d_k, hidden> Wq, param<"Wk", d_v, hidden> Wk,
                          param<"b", hidden> b, param<"v", hidden> v) -> out<"O", batch, seq, d_v> {
      auto h = tanh(broadcast<mem>(dot<d_k>(Q, Wq)) + broadcast<seq>(dot<d_v>(K, Wk)) + b);
      return dot<mem>(softmax<mem>(dot<hidden>(h, v)), K);
    });

inline constexpr auto luong_general =
    kernel<"luong_general">([](in<"H", batch, seq, d_k> H, in<"S", batch, mem, d_v> S,
                               param<"W", d_k, d_v> W) -> out<"C", batch, seq, d_v> {
      return dot<mem>(softmax<mem>(dot<d_v>(dot<d_k>(H, W), S)), S);
    });

inline constexpr auto differential = kernel<"differential">(
    [](Q_ Q1, K_ K1, in<"Q2", batch, heads, seq, d_k> Q2, in<"K2", batch, heads, mem, d_k> K2, V_ V,
       param<"lambda"> lambda) -> out<"O", batch, heads, seq, d_v> {
      auto w1 = softmax<mem>(dot<d_k>(Q1, K1) / sqrt(d_k));
      auto w2 = softmax<mem>(dot<d_k>(Q2, K2) / sqrt(d_k));
      return dot<mem>(w1 - lambda * w2, V);
    });

inline constexpr auto sink_by_hand = kernel<"sink_by_hand">(
    [](Q_ Q, in<"K", batch, heads, kv, d_k> K, in<"V", batch, heads, kv, d_v> V,
       param<"sink", heads> sink)
        -> outs<out<"O", batch, heads, seq, d_v>, out<"lse", batch, heads, seq>> {
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) <= index(seq));
      auto m = max(max<kv>(s), sink);
      auto w = exp(s - m);
      auto l = sum<kv>(w) + exp(sink - m);
      return {dot<kv>(w / l, V), m + log(l)};
    });

// Softmax by hand, some rows of which see no key: of sums, of weights, of two sets of keys.
inline constexpr auto softmax_by_hand = kernel<"softmax_by_hand">(
    [](Q_ Q, K_ K, V_ V, in<"keep", b8, batch, mem> keep, in<"K2", batch, heads, past, d_k> K2,
       in<"V2", batch, heads, past, d_v> V2)
        -> outs<out<"O", batch, heads, seq, d_v>, out<"O2", batch, heads, seq, d_v>,
                out<"both", batch, heads, seq, d_v>> {
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), keep);
      auto m = max<mem>(s);
      auto e = exp(s - m);
      auto s2 = dot<d_k>(Q, K2) / sqrt(d_k);
      auto e2 = exp(s2 - max<past>(s2));
      auto m12 = max(max<mem>(s), max<past>(s2));
      auto p1 = exp(s - m12);
      auto p2 = exp(s2 - m12);
      auto l12 = sum<mem>(p1) + sum<past>(p2);
      return {dot<mem>(e, V) / (sum<mem>(e) + 1e-9), dot<past>(e2 / sum<past>(e2), V2),
              (dot<mem>(p1, V) + dot<past>(p2, V2)) / l12};
    });

inline constexpr auto weights_out = kernel<"weights_out">([
](Q_ Q, K_ K, V_ V) -> outs<out<"O", batch, heads, seq, d_v>, out<"scores", batch, heads, seq, mem>,
                                                          out<"weights", batch, heads, seq, mem>> {
  auto s = dot<d_k>(Q, K) / sqrt(d_k);
  auto w = softmax<mem>(s);
  return {dot<mem>(w, V), s, w};
});

// ---- layers -------------------------------------------------------------------------------------
inline constexpr auto multi_head = kernel<"multi_head">(
    [](in<"X", batch, seq, d_model> X, param<"Wq", d_model, heads, d_k> Wq,
       param<"Wk", d_model, heads, d_k> Wk, param<"Wv", d_model, heads, d_v> Wv,
       param<"bq", heads, d_k> bq, param<"Wo", heads, d_v, d_model> Wo,
       param<"bo", d_model> bo) -> out<"Y", batch, seq, d_model> {
      auto M = rename<seq, kv>(X);
      auto Q = dot<d_model>(X, Wq) + bq;
      auto K = dot<d_model>(M, Wk);
      auto V = dot<d_model>(M, Wv);
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) <= index(seq));
      return dot<heads, d_v>(dot<kv>(softmax<kv>(s), V), Wo) + bo;
    });

inline constexpr auto layer_norm =
    kernel<"layer_norm">([](in<"X", batch, seq, d_model> x, param<"gamma", d_model> gamma,
                            param<"beta", d_model> beta) -> out<"Y", batch, seq, d_model> {
      auto c = x - mean<d_model>(x);
      return c * rsqrt(mean<d_model>(c * c) + 1e-5f) * gamma + beta;
    });

inline constexpr auto feed_forward = kernel<"feed_forward">(
    [](in<"X", batch, seq, d_model> X, param<"W1", d_model, hidden> W1, param<"b1", hidden> b1,
       param<"W2", hidden, d_model> W2, param<"b2", d_model> b2) -> out<"Y", batch, seq, d_model> {
      return X + dot<hidden>(gelu(dot<d_model>(X, W1) + b1), W2) + b2;
    });

inline constexpr auto linear_attention =
    kernel<"linear_attention">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
      auto q = elu(Q) + 1.f;
      auto k = elu(K) + 1.f;
      return dot<d_k>(q, dot<mem>(k, V)) / dot<d_k>(q, sum<mem>(k));
    });

inline constexpr auto outer_product =
    kernel<"outer_product">([](in<"a", seq> a, in<"b", mem> b) -> out<"O", seq, mem> {
      return broadcast<mem>(a) * broadcast<seq>(b);
    });

inline constexpr auto statistics = kernel<"statistics">(
    [](in<"X", batch, seq, d_model> X, in<"len", i32, batch> len)
        -> outs<out<"sum", batch, d_model>, out<"mean", batch, d_model>, out<"max", batch, seq>,
                out<"min", batch, seq>, out<"lse", batch, d_model>> {
      auto kept = mask(X, index(seq) < len);
      return {sum<seq>(kept), mean<seq>(kept), max<d_model>(X), min<d_model>(X),
              logsumexp<seq>(kept)};
    });

inline constexpr auto functions = kernel<"functions">(
    [](in<"X", batch, any_k> X)
        -> outs<out<"a", batch, any_k>, out<"b", batch, any_k>, out<"c", batch, any_k>> {
      auto a = exp(X) + tanh(X) + sigmoid(X) + relu(X) + gelu(X) + silu(X) + elu(X);
      auto b = log(abs(X) + 1.f) + sqrt(abs(X)) + rsqrt(X * X + 1.f) + erf(X) + cos(X) + sin(X);
      auto c =
          where(X > 0.f, min(X, 2.f), max(X, -2.f)) + pow(abs(X) + 1.f, 0.5f) - X / (X * X + 1.f);
      return {a, b, c};
    });

// Functions of functions: each uses its operand several times, and it is computed once.
inline constexpr auto nested = [](auto x) {
  const auto inner = [](auto y) { return tanh(exp(elu(y) / 2) - sigmoid(y)); };
  return inner(inner(inner(inner(inner(x)))));
};
inline constexpr auto functions_of_functions = kernel<"functions_of_functions">(
    [](in<"x", batch, any_k> x) -> out<"y", batch, any_k> { return nested(x); });

inline constexpr auto pooling =
    kernel<"pooling">([](in<"X", batch, seq, d_model> X, param<"q", d_model> q,
                         in<"len", i32, batch> len) -> out<"O", batch, d_model> {
      auto s = mask(dot<d_model>(X, q) / sqrt(d_model), index(seq) < len);
      return dot<seq>(softmax<seq>(s), X);
    });

inline constexpr auto talking_heads = kernel<"talking_heads">(
    [](Q_ Q, K_ K, in<"V", batch, kv_heads, mem, d_v> V,
       param<"P", heads, kv_heads> P) -> out<"O", batch, kv_heads, seq, d_v> {
      return dot<mem>(dot<heads>(softmax<mem>(dot<d_k>(Q, K) / sqrt(d_k)), P), V);
    });

// ---- shapes and names that a code generator may stumble over ------------------------------------
inline constexpr axis<"i"> i;  // names that the code generator uses itself
inline constexpr axis<"T"> T;
inline constexpr alias<"j", i> j;
inline constexpr axis<"c", 8> c;

inline constexpr auto own_names = kernel<"own_names">(
    [](in<"state", batch, i, c> Q, in<"scores", batch, T, c> K) -> out<"weights", batch, i, c> {
      return dot<T>(softmax<T>(dot<c>(Q, K)), K);
    });

inline constexpr auto words_of_c = kernel<"words_of_c">(
    [](in<"double", i> x, in<"new", i> y, in<"new_", i> z, in<"SIZE_MAX", i> w, in<"bool", i> u,
       in<"qkv_tensor", i> t, in<"kernel_words_of_c", i> s) -> outs<out<"all", i>, out<"a0", i>> {
      return {x - y * z, w + u * t - s};
    });

inline constexpr auto identity =
    kernel<"identity">([](in<"X", i, c> X) -> out<"Y", i, c> { return X; });

inline constexpr auto one_step_twice =
    kernel<"one_step_twice">([](in<"X", i, c> X) -> outs<out<"Y", i, c>, out<"Z", c, i>> {
      auto y = exp(X);
      return {y, y};
    });

inline constexpr auto one_number =
    kernel<"one_number">([](in<"X", i> X) -> out<"Y"> { return sum<i>(X); });

inline constexpr auto one_label = kernel<"one_label">([](in<"X", i, c> X) -> out<"Y", i> {
  auto a = let<"t">(exp(X));
  auto b = let<"t">(tanh(X));
  return sum<c>(a * b) + sum<c>(a) + sum<c>(b);
});

// Channels attend to channels (XCiT), which lie side by side for each position.
inline constexpr auto channels =
    kernel<"channels">([](in<"Q", batch, seq, heads, d_k> Q, in<"K", batch, seq, heads, d_k> K,
                          in<"V", batch, seq, heads, d_k> V,
                          param<"sharpness", heads> sharpness) -> out<"O", batch, seq, heads, d_k> {
      auto q = Q * rsqrt(sum<seq>(Q * Q) + 0.5);
      auto k = rename<d_k, d_k2>(K * rsqrt(sum<seq>(K * K) + 0.5));
      auto weights = softmax<d_k2>(dot<seq>(q, k) * sharpness);
      return dot<d_k2>(weights, rename<d_k, d_k2>(V));
    });

inline constexpr auto gram = kernel<"gram">(
    [](in<"X", batch, i, c> X) -> out<"G", batch, i, j> { return dot<c>(X, rename<i, j>(X)); });

inline constexpr auto attention_and_more = kernel<"attention_and_more">(
    [](in<"Q", i, c> Q, in<"K", T, c> K) -> outs<out<"A", i, c>, out<"B", i, c>> {
      auto a = dot<T>(softmax<T>(dot<c>(Q, K)), K);
      return {a, a * 2.f};
    });

// One tensor seen from the queries and from the keys.
inline constexpr auto own_documents = kernel<"own_documents">(
    [](Q_ Q, in<"K", batch, heads, kv, d_k> K, in<"V", batch, heads, kv, d_v> V,
       in<"doc", i32, batch, seq> doc) -> out<"O", batch, heads, seq, d_v> {
      auto same = doc == rename<seq, kv>(doc);
      return dot<kv>(softmax<kv>(mask(dot<d_k>(Q, K) / sqrt(d_k), same)), V);
    });

inline constexpr auto weighted_keys = kernel<"weighted_keys">(
    [](Q_ Q, in<"K", batch, heads, kv, d_k> K, in<"V", batch, heads, kv, d_v> V,
       in<"w", batch, seq> w) -> out<"O", batch, heads, seq, d_v> {
      auto s = dot<d_k>(Q, K) / sqrt(d_k) * w * rename<seq, kv>(w);
      return dot<kv>(softmax<kv>(s), V);
    });

// Steps after the result that read its logsumexp.
inline constexpr auto gated_by_lse = kernel<"gated_by_lse">(
    [](Q_ Q, K_ K, V_ V, param<"sink", heads> sink) -> out<"O", batch, heads, seq, d_v> {
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
      return dot<mem>(softmax<mem>(s), V) * sigmoid(logsumexp<mem>(s) - sink);
    });

inline constexpr auto with_lse =
    kernel<"with_lse">([](Q_ Q, K_ K, in<"v", batch, heads, mem> v) -> out<"o", batch, heads, seq> {
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
      return dot<mem>(softmax<mem>(s), v) + logsumexp<mem>(s);
    });

// Weights that two products share: neither stores them.
inline constexpr auto two_values = kernel<"two_values">(
    [](Q_ Q, K_ K, V_ V, in<"U", batch, heads, mem, odd_v> U)
        -> outs<out<"O", batch, heads, seq, d_v>, out<"P", batch, heads, seq, odd_v>,
                out<"lse", batch, heads, seq>> {
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
      auto w = softmax<mem>(s);
      return {dot<mem>(w, V), dot<mem>(w, U), logsumexp<mem>(s)};
    });

// Rows of V a power of two apart: copied block by block.
inline constexpr auto wide_values =
    kernel<"wide_values">([](in<"Q", batch, seq, odd_k> Q, in<"K", batch, kv, odd_k> K,
                             in<"V", batch, kv, wide> V) -> out<"O", batch, seq, wide> {
      return dot<kv>(softmax<kv>(mask(dot<odd_k>(Q, K), index(kv) <= index(seq))), V);
    });

inline constexpr auto limits = kernel<"limits">(
    [](in<"x", i> x) -> outs<out<"log", i>, out<"relu", i>, out<"elu", i>, out<"erf", i>,
                             out<"exp", i>, out<"tanh", i>, out<"sigmoid", i>> {
      return {log(x), relu(x), elu(x), erf(x), exp(x), tanh(x), sigmoid(x)};
    });

// ---- weights that nothing normalises, sums of weights, chains of contractions -------------------
inline constexpr auto sigmoid_weights = kernel<"sigmoid_weights">(
    [](Q_ Q, in<"K", batch, heads, kv, d_k> K,
       in<"V", batch, heads, kv, d_v> V) -> out<"O", batch, heads, seq, d_v> {
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, kv>);
      return dot<kv>(sigmoid(s), V);
    });

// Scores damped by distance (retention): linear in the scores, and not a chain.
inline constexpr auto retention =
    kernel<"retention">([](Q_ Q, in<"K", batch, heads, kv, d_k> K, in<"V", batch, heads, kv, d_v> V,
                           param<"decay", heads> decay) -> out<"O", batch, heads, seq, d_v> {
      auto damped = dot<d_k>(Q, K) * exp((index(kv) - index(seq)) * abs(decay));
      return dot<kv>(where(index(kv) <= index(seq), damped, 0.f), V);
    });

inline constexpr auto gated_difference = kernel<"gated_difference">(
    [](Q_ Q, K_ K, in<"Q2", batch, heads, seq, d_k> Q2, in<"K2", batch, heads, mem, d_k> K2, V_ V,
       param<"lambda", heads> lambda,
       in<"gate", batch, heads, seq> gate) -> out<"O", batch, heads, seq, d_v> {
      auto w1 = softmax<mem>(dot<d_k>(Q, K) / sqrt(d_k));
      auto w2 = softmax<mem>(dot<d_k>(Q2, K2) / sqrt(d_k));
      return dot<mem>((w1 - lambda * w2) * gate * 0.5f, V);
    });

// A function of the logsumexp is stored, and scales the result beside it.
inline constexpr auto lse_twice = kernel<"lse_twice">(
    [](Q_ Q, K_ K, V_ V) -> outs<out<"O", batch, heads, seq, d_v>, out<"x", batch, heads, seq>,
                                 out<"lse", batch, heads, seq>> {
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
      auto l = logsumexp<mem>(s);
      auto x = exp(l / 8);
      return {dot<mem>(softmax<mem>(s), V) * x, x + 1, l};
    });

// Gates of which some is masked: of pairs, of rows, beside another term.
inline constexpr auto masked_gates = kernel<"masked_gates">(
    [](Q_ Q, K_ K, V_ V, in<"G", seq, mem> G, in<"r", seq> r, in<"len", i32> len)
        -> outs<out<"pairs", batch, heads, seq, d_v>, out<"rows", batch, heads, seq, d_v>,
                out<"sum", batch, heads, seq, d_v>> {
      auto w = softmax<mem>(dot<d_k>(Q, K) / sqrt(d_k));
      auto gate = mask(sigmoid(G), index(mem) < len);
      return {dot<mem>(w * gate, V), dot<mem>(w * mask_rows(r, index(seq) < len), V),
              dot<mem>(w + w * gate, V)};
    });

inline constexpr auto low_rank =
    kernel<"low_rank">([](Q_ Q, K_ K, in<"U", batch, heads, mem, c> U,
                          param<"A", heads, c, d_v> A) -> out<"O", batch, heads, seq, d_v> {
      return dot<mem>(softmax<mem>(dot<d_k>(Q, K) / sqrt(d_k)), dot<c>(U, A));
    });

inline constexpr auto quadratic_linear = kernel<"quadratic_linear">(
    [](in<"Q", batch, heads, seq, d_k> Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
      return dot<mem>(dot<d_k>(relu(Q), relu(K)), V);
    });

// The result of one attention, transformed, weights the values of another.
inline constexpr auto weights_of_attention = kernel<"weights_of_attention">(
    [](Q_ Q, K_ K, in<"Z", batch, heads, mem, c> Z,
       in<"W", batch, heads, c, d_v> W) -> out<"O", batch, heads, seq, d_v> {
      return dot<c>(relu(dot<mem>(softmax<mem>(dot<d_k>(Q, K) / sqrt(d_k)), abs(Z))), abs(W));
    });

// ---- storage of 16 bit --------------------------------------------------------------------------
inline constexpr auto stored_bf16 = kernel<"stored_bf16">(
    [](in<"Q", bf16, batch, heads, seq, half> Q, in<"K", bf16, batch, heads, kv, half> K,
       in<"V", bf16, batch, heads, kv, d_v> V)
        -> outs<out<"O", bf16, batch, heads, seq, d_v>, out<"lse", batch, heads, seq>> {
      auto s = mask(dot<half>(Q, K) / sqrt(half), causal<seq, kv>);
      return {dot<kv>(softmax<kv>(s), V), logsumexp<kv>(s)};
    });

inline constexpr auto stored_f16 = kernel<"stored_f16">(
    [](in<"X", f16, batch, seq, d_model> X, param<"W", f16, d_model, d_k> W, param<"b", f16, d_k> b)
        -> outs<out<"Y", f16, batch, seq, d_k>, out<"Z", f16, batch, seq, d_model>> {
      return {dot<d_model>(X, W) + b, X};
    });

// ---- what a shortcut would get wrong ------------------------------------------------------------
// Scores of other pairs, and of the mean over heads, besides those of this pair.
inline constexpr auto scores_of_others = kernel<"scores_of_others">(
    [](Q_ Q, in<"K", batch, heads, kv, d_k> K, in<"V", batch, heads, kv, d_v> V,
       in<"len", i32, seq> at)
        -> outs<out<"O", batch, heads, seq, d_v>, out<"P", batch, heads, seq, d_v>> {
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
      return {dot<kv>(softmax<kv>(s + take<kv>(s, rename<seq, kv>(at))), V),
              dot<kv>(softmax<kv>(s - mean<heads>(s)), V)};
    });

// One matrix in both directions.
inline constexpr auto tied_weights = kernel<"tied_weights">(
    [](in<"X", seq, d_model> X, param<"W", d_model, d_k> W) -> out<"Y", seq, d_model> {
      return dot<d_k>(relu(dot<d_model>(X, W)), W);
    });

inline constexpr axis<"b", 24> b;
inline constexpr auto whole_numbers = kernel<"whole_numbers">(
    [](in<"keep", b8, batch, seq> keep, in<"ids", i32, seq, b> ids, in<"X", seq, b> X)
        -> outs<out<"document", i32, batch, seq>, out<"kept", i32, batch>, out<"most", i32, seq>,
                out<"least", i32, b>, out<"mean", b>, out<"pairs", seq, kv>, out<"w", seq, b>> {
      return {cumsum<seq>(keep),  sum<seq>(keep), max<b>(ids),
              min<seq>(ids),      mean<seq>(ids), dot<b>(ids, rename<seq, kv>(ids)),
              softmax<b>(ids + X)};
    });

// Positions removed on either side of a contraction.
inline constexpr auto masked_sides = kernel<"masked_sides">(
    [](in<"A", i, seq> A, in<"B", seq, c> B,
       in<"len", i32> len) -> outs<out<"left", i, c>, out<"right", i, c>, out<"both", i, c>> {
      auto keep = index(seq) < len;
      auto a = mask_rows(A, keep);
      auto b = mask_rows(B, keep);
      return {dot<seq>(a, B), dot<seq>(A, b), dot<seq>(a, b)};
    });

// A step after the result that reads all of its logsumexps; features named like a loop of the code
// generator.
inline constexpr auto gated_by_all =
    kernel<"gated_by_all">([](in<"Q", batch, seq, b> Q, in<"K", batch, mem, b> K,
                              in<"V", batch, mem, d_v> V) -> out<"O", batch, seq, d_v> {
      auto s = dot<b>(Q, K);
      return dot<mem>(softmax<mem>(s), V) * sigmoid(mean<seq>(logsumexp<mem>(s)));
    });

// ---- gathers ------------------------------------------------------------------------------------
// Keys of before and of now, one after the other: attended to, and an output.
inline constexpr auto cached = kernel<"cached">(
    [](Q_ Q, in<"K", batch, heads, seq, d_k> K, in<"V", batch, heads, seq, d_v> V,
       in<"past_K", batch, heads, past, d_k> past_K, in<"past_V", batch, heads, past, d_v> past_V)
        -> outs<out<"O", batch, heads, seq, d_v>, out<"all_K", batch, heads, all, d_k>,
                out<"all_V", batch, heads, all, d_v>> {
      auto keys = concat<all>(past_K, K);
      auto values = concat<all>(past_V, V);
      auto s = mask(dot<d_k>(Q, keys) / sqrt(d_k), index(all) <= index(seq) + size(past));
      return {dot<all>(softmax<all>(s), values), keys, values};
    });

// Pairs of features turned by an angle that a table holds for each position.
inline constexpr auto rotated = kernel<"rotated">(
    [](in<"Q", batch, seq, d_k> Q, in<"K", batch, kv, d_k> K, in<"V", batch, kv, odd_v> V,
       param<"cos", positions, half> cos, param<"sin", positions, half> sin,
       in<"at", i32, batch, seq> at) -> out<"O", batch, seq, odd_v> {
      const auto turned = [&](auto x, auto c, auto s) {
        auto pairs = split<d_k, two, half>(x);
        auto a = take<two>(pairs, 0), b = take<two>(pairs, 1);
        return merge<d_k, two, half>(where(index(two) == 0, a * c - b * s, a * s + b * c));
      };
      auto of_q = turned(Q, take<positions>(cos, at), take<positions>(sin, at));
      auto of_k = turned(K, slice<positions, kv>(cos, 0), slice<positions, kv>(sin, 0));
      auto s = mask(dot<d_k>(of_q, of_k) / sqrt(d_k), causal<seq, kv>);
      return dot<kv>(softmax<kv>(s), V);
    });

// A bias from a table of distances.
inline constexpr auto relative_table = kernel<"relative_table">(
    [](Q_ Q, in<"K", batch, heads, kv, d_k> K, in<"V", batch, heads, kv, d_v> V,
       param<"table", heads, positions> table) -> out<"O", batch, heads, seq, d_v> {
      auto bias = take<positions>(table, index(kv) - index(seq) + 8);
      return dot<kv>(softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k) + bias), V);
    });

inline constexpr auto embedded = kernel<"embedded">(
    [](in<"id", i32, batch, seq> id, param<"words", positions, d_model> words,
       param<"places", positions, d_model> places) -> out<"X", batch, seq, d_model> {
      return take<positions>(words, id) + slice<positions, seq>(places, 0);
    });

inline constexpr auto joined_features =
    kernel<"joined_features">([](in<"a", batch, seq, odd_k> a, in<"b", batch, seq, odd_v> b,
                                 param<"W", d_model, d_k> W) -> out<"Y", batch, seq, d_k> {
      return dot<d_model>(concat<d_model>(a, b), W);
    });

inline constexpr auto prefix_sums = kernel<"prefix_sums">(
    [](in<"X", batch, seq, c> X, in<"len", i32, batch> len)
        -> outs<out<"Y", batch, seq, c>, out<"Z", batch, seq, c>, out<"n", i32, batch>> {
      return {cumsum<seq>(mask_rows(X * X, index(seq) < len)), cumsum<c>(X), cumsum<batch>(len)};
    });

// One step of decoding: new queries, and everything up to each of them in a cache.
inline constexpr auto decode = kernel<"decode">(
    [](Q_ Q, in<"K", batch, heads, slots, d_k> K, in<"V", batch, heads, slots, d_v> V,
       in<"length", i32, batch> length) -> out<"O", batch, heads, seq, d_v> {
      auto seen = cached_causal<seq, slots>(length);
      return dot<slots>(softmax<slots>(mask(dot<d_k>(Q, K) / sqrt(d_k), seen)), V);
    });

// Sums of positions and stored values that fit an i32 only after all terms are added.
inline constexpr auto counted_from_far =
    kernel<"counted_from_far">([](in<"far", i32, batch> far) -> out<"seen", b8, seq, slots, batch> {
      return cached_causal<seq, slots>(far);
    });

// Entries of a batch that take different numbers of new positions.
inline constexpr auto decode_ragged =
    kernel<"decode_ragged">([](Q_ Q, in<"K", batch, heads, slots, d_k> K,
                               in<"V", batch, heads, slots, d_v> V, in<"length", i32, batch> length,
                               in<"count", i32, batch> count) -> out<"O", batch, heads, seq, d_v> {
      auto seen = cached_causal<seq, slots>(length, count);
      return dot<slots>(softmax<slots>(mask(dot<d_k>(Q, K) / sqrt(d_k), seen)), V);
    });

inline constexpr auto decode_paged = kernel<"decode_paged">(
    [](Q_ Q, in<"K", pages, heads, slot, d_k> key_pages,
       in<"V", pages, heads, slot, d_v> value_pages, in<"table", i32, batch, blocks> table,
       in<"length", i32, batch> length) -> out<"O", batch, heads, seq, d_v> {
      auto K = merge<slots, blocks, slot>(take<pages>(key_pages, table));
      auto V = merge<slots, blocks, slot>(take<pages>(value_pages, table));
      auto seen = cached_causal<seq, slots>(length);
      return dot<slots>(softmax<slots>(mask(dot<d_k>(Q, K) / sqrt(d_k), seen)), V);
    });

inline constexpr auto decode_paged_ragged = kernel<"decode_paged_ragged">(
    [](Q_ Q, in<"K", pages, heads, slot, d_k> key_pages,
       in<"V", pages, heads, slot, d_v> value_pages, in<"table", i32, batch, blocks> table,
       in<"length", i32, batch> length,
       in<"count", i32, batch> count) -> out<"O", batch, heads, seq, d_v> {
      auto K = merge<slots, blocks, slot>(take<pages>(key_pages, table));
      auto V = merge<slots, blocks, slot>(take<pages>(value_pages, table));
      auto seen = cached_causal<seq, slots>(length, count);
      return dot<slots>(softmax<slots>(mask(dot<d_k>(Q, K) / sqrt(d_k), seen)), V);
    });

// Functions whose sums run over all positions.
inline constexpr auto sums_of_functions = kernel<"sums_of_functions">(
    [](in<"X", seq, d_k> X, in<"V", seq, odd_v> V) -> out<"S", d_k, odd_v> {
      return dot<seq>(exp(X), V);
    });

// 41 * (1 / 41.f) is less than 1.
inline constexpr auto chunk_numbers = kernel<"chunk_numbers">(
    [](in<"n", i32, seq> n,
       in<"X", seq> X) -> outs<out<"C", i32, seq>, out<"later", b8, seq>, out<"Y", seq>> {
      return {n + cast<i32>(index(seq) / 41) + cast<i32>(index(seq) / 20.5),
              n > 0 && (index(seq) + 1.0) / 47 >= 1, X / 41};
    });

// Results of several shards of the keys, as one.
inline constexpr auto merged_shards = kernel<"merged_shards">(
    [](in<"O_i", shards, batch, heads, seq, d_v> parts, in<"lse_i", shards, batch, heads, seq> lses)
        -> outs<out<"O", batch, heads, seq, d_v>, out<"lse", batch, heads, seq>> {
      return {sum<shards>(softmax<shards>(lses) * parts), logsumexp<shards>(lses)};
    });

inline constexpr auto signs = kernel<"signs">(
    [](in<"X", i, c> X, in<"Y", j, c> Y) -> out<"S", b8, i, j> { return dot<c>(X, Y) > 0.f; });

constexpr auto halved(auto x) { return 0.5f * x + 0.5f * x; }
constexpr auto halved_8(auto x) {
  return halved(halved(halved(halved(halved(halved(halved(halved(x))))))));
}
inline constexpr auto shared_steps = kernel<"shared_steps">(
    [](in<"X", i, c> X) -> out<"Y", i, c> { return halved_8(halved_8(halved_8(halved_8(X)))); });

}  // namespace specs
