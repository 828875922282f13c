// SPDX-License-Identifier: BSL-1.0
#pragma once
// Kernels in which masks, infinite literals and NaN meet: hidden values stay hidden, visible ones
// come through.
#include <limits>
#include <qkv/dsl.hpp>

namespace hidden {
using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 3> heads;
inline constexpr batch_axis<"mixed", 3> mixed;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"mem"> mem;
inline constexpr axis<"d", 12> d;
inline constexpr axis<"e", 20> e;

using Q_ = in<"Q", batch, seq, d>;
using K_ = in<"K", batch, kv, d>;
using V_ = in<"V", batch, kv, e>;
constexpr float infinity = std::numeric_limits<float>::infinity();

// ---- masks --------------------------------------------------------------------------------------
inline constexpr auto mask_of_call = kernel<"mask_of_call">(
    [](in<"X", seq, kv> X, in<"flag", b8> flag, in<"near", i32> near) -> out<"W", seq, kv> {
      auto before = index(kv) <= index(seq);
      return softmax<kv>(where(flag, mask(X, before), mask(X, index(kv) < near)));
    });

inline constexpr auto masked_products = kernel<"masked_products">(
    [](Q_ Q, K_ K, in<"flag", b8> flag, in<"near", i32> near) -> out<"W", batch, seq, kv> {
      auto s = dot<d>(Q, K);
      return softmax<kv>(where(flag, mask(s, causal<seq, kv>), mask(s, index(kv) < near)));
    });

// A choice between masks as the condition of a contraction.
inline constexpr auto chosen_masks =
    kernel<"chosen_masks">([](in<"x", kv> x, in<"flag", b8> flag, in<"all", b8> all,
                              in<"near", i32> near, in<"values", kv> values) -> out<"y"> {
      return dot<kv>(where(flag, mask(x, all), mask(x, index(kv) < near)), values);
    });

inline constexpr auto equal_masks =
    kernel<"equal_masks">([](in<"x", kv> x, in<"flag", b8> flag, in<"near", i32> near,
                             in<"values", kv> values) -> outs<out<"y">, out<"z">> {
      return {dot<kv>(mask(x, (index(kv) < near) == flag), values),
              dot<kv>(mask(x, where(flag, index(kv) < near, index(kv) > 2)), values)};
    });

// An infinite literal as the factor of a product.
inline constexpr auto infinite_factors = kernel<"infinite_factors">([
](in<"X", seq, e> X, in<"x", e> x, in<"keep", b8> keep) -> outs<out<"y", seq>, out<"z">> {
  auto inf = mask(where(index(e) <= 3, -infinity, x), keep);
  return {dot<e>(inf, X), dot<e>(mask(where(let<"always">(index(e) >= 0), -infinity, x), keep), x)};
});

// Factors that are one of two numbers: of rows, of columns, and those of one row.
inline constexpr auto chosen_numbers =
    kernel<"chosen_numbers">([](in<"X", seq, e> X, in<"pick", b8, e> pick, in<"take", b8, seq> take,
                                in<"x", e> x) -> outs<out<"y", seq>, out<"z", e>, out<"one">> {
      return {dot<e>(where(pick, 1, 0), X), dot<seq>(where(take, 1, 0), X),
              dot<e>(cast<f32>(pick) * 2.f, x)};
    });

inline constexpr auto weights_too = kernel<"weights_too">(
    [](Q_ Q, K_ K, V_ V) -> outs<out<"O", batch, seq, e>, out<"W", batch, seq, kv>> {
      auto w = softmax<kv>(mask(dot<d>(Q, K), causal<seq, kv>));
      return {dot<kv>(w, V), w};
    });

// Stored weights that are made of others stay empty where those are.
inline constexpr auto weights_of_functions = kernel<"weights_of_functions">(
    [](in<"S", batch, seq, kv> S, V_ V, in<"near", i32> near)
        -> outs<out<"O", batch, seq, e>, out<"P", batch, seq, e>, out<"w", batch, seq, kv>> {
      auto w = softmax<kv>(mask(S, index(kv) < near));
      return {dot<kv>(abs(w), V), dot<kv>(w * w, V), w};
    });

inline constexpr auto weights_gated = kernel<"weights_gated">(
    [](Q_ Q, K_ K, V_ V,
       in<"G", batch, seq, kv> G) -> outs<out<"O", batch, seq, e>, out<"W", batch, seq, kv>> {
      auto w = softmax<kv>(mask(dot<d>(Q, K), causal<seq, kv>)) * G;
      return {dot<kv>(w, V), w};
    });

inline constexpr auto sums_of_weights = kernel<"sums_of_weights">(
    [](Q_ Q, K_ K, V_ V,
       in<"len", i32, batch> len) -> outs<out<"O", batch, seq, e>, out<"W", batch, seq, kv>> {
      auto w = normalize<kv>(mask(relu(dot<d>(Q, K)), index(kv) < len));
      return {dot<kv>(w, V), w};
    });

// Functions of queries and keys, without normalisation.
inline constexpr auto masked_linear =
    kernel<"masked_linear">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, seq, e> {
      return dot<kv>(mask(dot<d>(Q, K), causal<seq, kv>), V);
    });

inline constexpr auto padded_linear = kernel<"padded_linear">(
    [](Q_ Q, K_ K, V_ V, in<"len", i32, batch> len) -> out<"O", batch, seq, e> {
      return dot<kv>(dot<d>(Q, mask_rows(K, index(kv) < len)), V);
    });

inline constexpr auto padded_memory = kernel<"padded_memory">(
    [](Q_ Q, K_ K, V_ V, in<"len", i32, batch> len) -> out<"O", batch, seq, e> {
      return dot<d>(Q, dot<kv>(mask_rows(K, index(kv) < len), V));
    });

// Heads that share keys, as many rows as decoding has, and the logsumexp.
inline constexpr auto padded_group = kernel<"padded_group">(
    [](in<"Q", batch, heads, seq, d> Q, in<"K", batch, mem, d> K, in<"V", batch, mem, e> V,
       in<"len", i32, batch> len)
        -> outs<out<"O", batch, heads, seq, e>, out<"lse", batch, heads, seq>> {
      auto s = mask(dot<d>(Q, K) / sqrt(d), index(mem) < len);
      return {dot<mem>(softmax<mem>(s), V), logsumexp<mem>(s)};
    });

// Which keys are hidden depends on the head, of which values have none.
inline constexpr auto values_of_all_heads = kernel<"values_of_all_heads">(
    [](in<"Q", batch, heads, seq, d> Q, in<"K", batch, heads, mem, d> K, in<"V", batch, mem, e> V,
       in<"len", i32, batch, heads> len) -> out<"O", batch, heads, seq, e> {
      auto s = mask(dot<d>(Q, K) / sqrt(d), index(mem) < len);
      return dot<mem>(softmax<mem>(s), V);
    });

inline constexpr auto mixed_heads =
    kernel<"mixed_heads">([](in<"Q", batch, heads, seq, d> Q, in<"K", batch, heads, kv, d> K,
                             in<"V", batch, heads, kv, e> V, param<"P", heads, mixed> P,
                             param<"W", mixed, heads> W) -> out<"O", batch, heads, seq, e> {
      return talking_heads<kv, heads, mixed>(dot<d>(Q, K), P, W, V, causal<seq, kv>);
    });

inline constexpr auto causal_f16 =
    kernel<"causal_f16">([](in<"Q", f16, batch, seq, d> Q, in<"K", f16, batch, kv, d> K,
                            in<"V", f16, batch, kv, e> V) -> out<"O", f16, batch, seq, e> {
      return dot<kv>(softmax<kv>(mask(dot<d>(Q, K), causal<seq, kv>)), V);
    });

inline constexpr auto causal_bf16 =
    kernel<"causal_bf16">([](in<"Q", bf16, batch, seq, d> Q, in<"K", bf16, batch, kv, d> K,
                             in<"V", bf16, batch, kv, e> V) -> out<"O", bf16, batch, seq, e> {
      return dot<kv>(softmax<kv>(mask(dot<d>(Q, K), causal<seq, kv>)), V);
    });

inline constexpr auto causal_f64 =
    kernel<"causal_f64">([](in<"Q", f64, batch, seq, d> Q, in<"K", f64, batch, kv, d> K,
                            in<"V", f64, batch, kv, e> V) -> out<"O", f64, batch, seq, e> {
      return dot<kv>(softmax<kv>(mask(dot<d>(Q, K), causal<seq, kv>)), V);
    });

inline constexpr auto plain_full = kernel<"plain_full">([
](Q_ Q, K_ K, V_ V) -> out<"O", batch, seq, e> { return dot<kv>(softmax<kv>(dot<d>(Q, K)), V); });

inline constexpr auto gated_full = kernel<"gated_full">(
    [](Q_ Q, K_ K, V_ V, in<"G", batch, seq, kv> G) -> out<"O", batch, seq, e> {
      return dot<kv>(softmax<kv>(mask(dot<d>(Q, K), causal<seq, kv>)) * G, V);
    });

inline constexpr auto masked_gate = kernel<"masked_gate">(
    [](Q_ Q, K_ K, V_ V, in<"G", batch, seq, kv> G) -> out<"O", batch, seq, e> {
      return dot<kv>(softmax<kv>(dot<d>(Q, K)) * mask(G, causal<seq, kv>), V);
    });

inline constexpr auto statistics = kernel<"statistics">(
    [](in<"X", batch, kv, e> X, in<"len", i32, batch> len)
        -> outs<out<"sum", batch, e>, out<"mean", batch, e>, out<"most", batch, e>,
                out<"least", batch, e>, out<"lse", batch, e>, out<"prefix", batch, kv, e>> {
      auto x = mask_rows(X, index(kv) < len);
      return {sum<kv>(x), mean<kv>(x), max<kv>(x), min<kv>(x), logsumexp<kv>(x), cumsum<kv>(x)};
    });

inline constexpr auto statistics_f16 = kernel<"statistics_f16">(
    [](in<"X", f16, batch, kv, e> X, in<"len", i32, batch> len)
        -> outs<out<"sum", batch, e>, out<"mean", batch, e>, out<"most", batch, e>,
                out<"least", batch, e>, out<"lse", batch, e>, out<"prefix", batch, kv, e>> {
      auto x = mask_rows(X, index(kv) < len);
      return {sum<kv>(x), mean<kv>(x), max<kv>(x), min<kv>(x), logsumexp<kv>(x), cumsum<kv>(x)};
    });

// Products of the tile decide what is masked; weights beside it underflow.
inline constexpr auto masked_by_scores =
    kernel<"masked_by_scores">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, seq, e> {
      auto s = dot<d>(Q, K);
      return dot<kv>(softmax<kv>(mask(s * 60, s > -1)), V);
    });

inline constexpr auto masked_by_scores_f64 = kernel<"masked_by_scores_f64">(
    [](in<"Q", f64, batch, seq, d> Q, in<"K", f64, batch, kv, d> K,
       in<"V", f64, batch, kv, e> V) -> out<"O", f64, batch, seq, e> {
      auto s = dot<d>(Q, K);
      return dot<kv>(softmax<kv>(mask(s * 400, s > -1 and causal<seq, kv>)), V);
    });

inline constexpr auto gated_by_scores =
    kernel<"gated_by_scores">([](Q_ Q, K_ K, V_ V, in<"G", batch, seq, kv> G,
                                 in<"len", i32, batch> len) -> out<"O", batch, seq, e> {
      auto s = dot<d>(Q, K);
      auto gate = mask(where(G < 0, 0.f, G), index(kv) < len + 2);
      return dot<kv>(softmax<kv>(mask(s * 60, s > -1 and s < 1e30f)) * gate, V);
    });

inline constexpr auto linear_by_scores =
    kernel<"linear_by_scores">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, seq, e> {
      auto s = dot<d>(Q, K);
      return dot<kv>(mask(relu(s), s > -1), V);
    });

inline constexpr auto shares_by_scores =
    kernel<"shares_by_scores">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, seq, e> {
      auto s = dot<d>(Q, K);
      return dot<kv>(normalize<kv>(mask(relu(s), s > -1)), V);
    });

// Empty weights of one softmax are visible scores of another.
inline constexpr auto weights_of_weights =
    kernel<"weights_of_weights">([](in<"X", heads, seq, kv> X, in<"V", heads, kv, e> V,
                                    in<"near", i32> near) -> out<"O", heads, seq, e> {
      return dot<kv>(softmax<kv>(softmax<heads>(mask_rows(X, index(kv) < near))), V);
    });

// Weights times a contraction, or chosen by one: memory does not tell which of them are empty.
inline constexpr auto weighed_again =
    kernel<"weighed_again">([](in<"X", batch, kv> X, in<"near", i32> near, in<"q", batch, d> q,
                               K_ K) -> outs<out<"gated", batch, kv>, out<"chosen", batch, kv>> {
      auto w = softmax<kv>(mask(X, index(kv) < near));
      auto other = softmax<kv>(mask(-X, index(kv) < near));
      return {normalize<kv>(plain(w * sigmoid(dot<d>(q, K)))),
              normalize<kv>(plain(where(dot<d>(q, tanh(K)) > 0, w, other)))};
    });

// ---- infinite literals --------------------------------------------------------------------------
inline constexpr auto added_infinity =
    kernel<"added_infinity">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, seq, e> {
      auto s = dot<d>(Q, K) + where(causal<seq, kv>, 0.f, -infinity);
      return dot<kv>(softmax<kv>(s), V);
    });

inline constexpr auto added_infinity_f64 =
    kernel<"added_infinity_f64">([](in<"Q", f64, batch, seq, d> Q, in<"K", f64, batch, kv, d> K,
                                    in<"V", f64, batch, kv, e> V) -> out<"O", f64, batch, seq, e> {
      auto s = dot<d>(Q, K) + where(causal<seq, kv>, 0.f, -infinity);
      return dot<kv>(softmax<kv>(s), V);
    });

inline constexpr auto chosen_infinity =
    kernel<"chosen_infinity">([](Q_ Q, K_ K, V_ V, in<"keep", b8, batch, seq, kv> keep)
                                  -> outs<out<"O", batch, seq, e>, out<"S", batch, seq, kv>> {
      auto s = dot<d>(Q, K) + where(keep, 0.f, -infinity);
      return {dot<kv>(softmax<kv>(s), V), s};
    });

// Less its maximum, a row of -inf is NaN; a row that is masked is 0.
inline constexpr auto less_maximum = kernel<"less_maximum">(
    [](Q_ Q, K_ K, V_ V) -> outs<out<"O", batch, seq, e>, out<"lse", batch, seq>> {
      auto s = where(let<"earlier">(index(kv) < index(seq) - 1), dot<d>(Q, K), -infinity);
      return {dot<kv>(softmax<kv>(s - max<kv>(s)), V), logsumexp<kv>(s)};
    });

inline constexpr auto masked_less_maximum = kernel<"masked_less_maximum">(
    [](Q_ Q, K_ K, V_ V, in<"len", i32, batch> len) -> out<"O", batch, seq, e> {
      auto s = mask(where(let<"earlier">(index(kv) < index(seq) - 1), dot<d>(Q, K), -infinity),
                    index(kv) < len);
      return dot<kv>(softmax<kv>(s - max<kv>(s)), V);
    });

inline constexpr auto masked_values_less_maximum = kernel<"masked_values_less_maximum">(
    [](Q_ Q, K_ K, V_ V, in<"len", i32, batch> len) -> out<"O", batch, seq, e> {
      auto s = where(let<"earlier">(index(kv) < index(seq) - 1), dot<d>(Q, K), -infinity);
      auto weights = softmax<kv>(s - max<kv>(s));
      return dot<kv>(plain(weights), mask_rows(V, index(kv) < len));
    });

inline constexpr auto weights_less_maximum = kernel<"weights_less_maximum">([
](in<"X", seq, kv> X, in<"near", i32> near) -> out<"W", seq, kv> {
  auto s = mask(where(let<"earlier">(index(kv) < index(seq) - 1), X, -infinity), index(kv) < near);
  return softmax<kv>(s - max<kv>(s) - 3);
});

// The lowest finite number hides nothing.
inline constexpr auto lowest_less_maximum =
    kernel<"lowest_less_maximum">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, seq, e> {
      auto s = where(let<"earlier">(index(kv) < index(seq) - 1), dot<d>(Q, K),
                     std::numeric_limits<float>::lowest());
      return dot<kv>(softmax<kv>(s - max<kv>(s)), V);
    });

inline constexpr auto products_of_infinity = kernel<"products_of_infinity">(
    [](in<"X", batch, seq> X, in<"keep", b8, batch, seq> keep)
        -> outs<out<"times", batch, seq>, out<"over", batch, seq>, out<"less", batch, seq>,
                out<"most", batch, seq>, out<"bent", batch, seq>, out<"total", batch>> {
      auto huge = where(keep, 1.f, infinity);
      return {X * huge, X / huge, X - huge, max(X, huge), exp(X - huge), sum<seq>(X * huge)};
    });

inline constexpr auto over_nothing = kernel<"over_nothing">(
    [](in<"X", seq, mem> X) -> outs<out<"lse", seq>, out<"most", seq>, out<"least", seq>> {
      return {logsumexp<mem>(X) + mean<mem>(X), max<mem>(X) - sum<mem>(X), min<mem>(X) * 2};
    });

inline constexpr auto over_nothing_f64 = kernel<"over_nothing_f64">(
    [](in<"X", f64, seq, mem> X)
        -> outs<out<"lse", f64, seq>, out<"most", f64, seq>, out<"least", f64, seq>> {
      return {logsumexp<mem>(X) + mean<mem>(X), max<mem>(X) - sum<mem>(X), min<mem>(X) * 2};
    });

// ---- NaN ----------------------------------------------------------------------------------------
inline constexpr auto arithmetic = kernel<"arithmetic">(
    [](in<"X", batch, seq> X, in<"Y", batch, seq> Y)
        -> outs<out<"nothing", batch, seq>, out<"times_zero", batch, seq>, out<"one", batch, seq>,
                out<"same", b8, batch, seq>, out<"other", b8, batch, seq>, out<"most", batch, seq>,
                out<"least", batch, seq>, out<"less", b8, batch, seq>,
                out<"not_less", b8, batch, seq>> {
      return {X - X, X * 0, X / X, X == X, X != X, max(X, Y), min(X, Y), X < Y, not(X >= Y)};
    });

inline constexpr auto arithmetic_f16 = kernel<"arithmetic_f16">(
    [](in<"X", f16, batch, seq> X, in<"Y", f16, batch, seq> Y)
        -> outs<out<"nothing", batch, seq>, out<"times_zero", batch, seq>, out<"one", batch, seq>,
                out<"same", b8, batch, seq>, out<"other", b8, batch, seq>, out<"most", batch, seq>,
                out<"least", batch, seq>, out<"less", b8, batch, seq>, out<"logs", batch, seq>> {
      return {X - X, X * 0, X / X, X == X, X != X, max(X, Y), min(X, Y), X < Y, log(X)};
    });

// Where the call chooses the number, the factor is 0, which the other factor's NaN outlives.
inline constexpr auto floor_of_call =
    kernel<"floor_of_call">([](in<"Z", seq> Z, in<"on", b8> on, in<"X", seq, d> X) -> out<"O", d> {
      return dot<seq>(relu(where(on, Z, -1e9)), X);
    });

// A row whose weights are all 0 shows the NaN of its values.
inline constexpr auto weightless =
    kernel<"weightless">([](in<"Z", seq> Z, in<"X", seq, d> X) -> out<"O", d> {
      return dot<seq>(normalize<seq>(relu(Z)), X);
    });

// Compilers may take a sum that ends in a register for a number.
inline constexpr auto sums_as_numbers = kernel<"sums_as_numbers">(
    [](in<"X", seq, d> X, in<"Y", seq> Y)
        -> outs<out<"product", d>, out<"quotient", d>, out<"same", d, b8>, out<"less", d>> {
      auto s = dot<seq>(X, Y);
      return {s * 0, s / s, s == s, min(s, 0)};
    });

inline constexpr auto results_as_numbers = kernel<"results_as_numbers">(
    [](in<"Q", batch, seq, d> Q, in<"K", batch, kv, d> K, in<"V", batch, kv, d> V)
        -> outs<out<"product", batch, seq, d>, out<"same", batch, seq, d, b8>,
                out<"less", batch, seq, d>, out<"scores", batch, seq>, out<"numbers", batch, seq>,
                out<"positive", batch, seq>> {
      auto s = dot<d>(Q, K);
      auto o = dot<kv>(softmax<kv>(s), V);
      return {
          o * 0.0,         o == o, min(o, 0), sum<kv>(s * -0.0), sum<kv>(where(s == s, 1.0, 0.0)),
          sum<kv>(relu(s))};
    });

inline constexpr auto bent = kernel<"bent">(
    [](in<"X", batch, seq> X)
        -> outs<out<"silu", batch, seq>, out<"gelu", batch, seq>, out<"power", batch, seq>,
                out<"root", batch, seq>, out<"inverse", batch, seq>, out<"size", batch, seq>,
                out<"sine", batch, seq>, out<"minus", batch, seq>> {
      return {silu(X), gelu(X), pow(X, 2), sqrt(X), rsqrt(X), abs(X), sin(X), -X};
    });

}  // namespace hidden
