// SPDX-License-Identifier: BSL-1.0
#pragma once
// Recurrences in compiled kernels.
#include <qkv/dsl.hpp>

namespace scans {
using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 3> heads;
inline constexpr axis<"group", 2> group;
inline constexpr axis<"seq"> seq;
inline constexpr axis<"d_in", 20> d_in;
inline constexpr axis<"d_h", 24> d_h;
inline constexpr axis<"d_next", 24> d_next;
inline constexpr axis<"two", 2> two;
inline constexpr axis<"d_half", 12> d_half;
inline constexpr axis<"d_k", 16> d_k;
inline constexpr axis<"d_v", 24> d_v;
inline constexpr axis<"wide"> wide;
inline constexpr axis<"odd", 9> odd;
inline constexpr axis<"c"> c;

using Q_ = in<"Q", batch, heads, group, seq, d_k>;
using K_ = in<"K", batch, heads, seq, d_k>;
using V_ = in<"V", batch, heads, seq, d_v>;
using S_ = in<"S0", batch, heads, d_k, d_v>;
using O_ = out<"O", batch, heads, group, seq, d_v>;
using Last_ = out<"S", batch, heads, d_k, d_v>;

// Heads that share a state; the last state is a result.
inline constexpr auto gated_delta =
    kernel<"gated_delta">([](S_ S0, Q_ Q, K_ K, V_ V, in<"g", batch, heads, seq, d_k> g,
                             in<"beta", batch, heads, seq> beta) -> outs<O_, Last_> {
      auto unit = K * rsqrt(sum<d_k>(K * K) + 1e-6f);
      auto [o, s] = gated_delta_rule<d_k, seq, d_v>(S0, Q, unit, V, -abs(g), sigmoid(beta));
      return {o / sqrt(size(d_k)), s};
    });

// From nothing, and only the results.
inline constexpr auto from_zero = kernel<"from_zero">(
    [](in<"Q", batch, heads, seq, d_k> Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
      auto [o, s] = recurrent_attention<d_k, seq, d_v>(zeros<batch, heads, d_k, d_v>(), Q, K, V);
      return o;
    });

// Causal linear attention by prefix sums of outer products: a scan, which no spec wrote.
inline constexpr auto outer_prefix_sums = kernel<"outer_prefix_sums">(
    [](in<"Q", batch, heads, seq, d_k> Q, K_ K,
       V_ V) -> outs<out<"O", batch, heads, seq, d_v>, out<"norms", batch, seq, d_k>> {
      auto q = elu(Q) + 1;
      auto k = elu(K) + 1;
      auto products = broadcast<d_v>(k) * broadcast<d_k>(V);
      auto S = cumsum<seq>(products);
      auto z = cumsum<seq>(k);
      return {sum<d_k>(q * S) / sum<d_k>(q * z), mean<heads, d_v>(S * S - products)};
    });

// A recurrent network of Elman: the state is projected onto itself, the input before.
inline constexpr auto elman = kernel<"elman">(
    [](in<"X", batch, seq, d_in> X, param<"W", d_in, d_h> W, param<"U", d_h, d_next> U,
       param<"b", d_h> b,
       in<"h0", batch, d_h> h0) -> outs<out<"H", batch, seq, d_h>, out<"h", batch, d_h>> {
      auto [states, last] = scan<seq>(
          h0,
          [&](auto h, auto x) {
            return tanh(dot<d_in>(x, W) + rename<d_next, d_h>(dot<d_h>(h, U)) + b);
          },
          X);
      return {states, last};
    });

// Only the last state; sizes of the state decided at the call; whatever folds inside a step.
inline constexpr auto folds = kernel<"folds">(
    [](in<"X", seq, wide> X, in<"s0", wide> s0, in<"len", i32> len) -> out<"s", wide> {
      return scan<seq>(
                 s0,
                 [&](auto s, auto x, auto t) {
                   auto w = softmax<wide>(mask(s + x, index(wide) <= t + len));
                   return tanh(s * (logsumexp<wide>(x) - max<wide>(s)) + w * cumsum<wide>(x * s) +
                               mean<wide>(s) - min<wide>(x * s) + normalize<wide>(abs(s)));
                 },
                 X, index(seq))
          .last;
    });

// Two scans with one start, one after the other; a state without axes.
inline constexpr auto two_scans = kernel<"two_scans">(
    [](in<"X", batch, seq, c> X, in<"a", c> a) -> outs<out<"Y", batch, seq, c>, out<"n", batch>> {
      auto start = broadcast<batch>(a);
      auto up = scan<seq>(start, [](auto s, auto x) { return max(s, x); }, X);
      auto mixed =
          scan<seq>(start, [](auto s, auto x, auto u) { return (s + x * u) / 2; }, X, up.result);
      auto n = scan<seq>(sum<c>(start), [](auto s, auto x) { return s / 2 + sum<c>(x); }, X);
      return {mixed.result, n.last};
    });

// Reads all positions inside a step at one position; also an attention as a step.
inline constexpr auto looks_around =
    kernel<"looks_around">([](in<"X", seq, d_k> X, in<"K", seq, d_k> K, in<"V", seq, d_k> V,
                              in<"s0", d_k> s0) -> outs<out<"sums", d_k>, out<"s", d_k>> {
      auto sums = scan<seq>(
          s0,
          [&](auto s, auto x) { return tanh(x + sum<seq>(s * X) / cast<f32>(size(seq) + 1)) / 2; },
          X);
      auto attended = scan<seq>(
          s0,
          [&](auto s, auto x) { return tanh(x + dot<seq>(softmax<seq>(dot<d_k>(s, K)), V)) / 2; },
          X);
      return {sums.last, attended.last};
    });

// A step of functions of functions: each uses its operand several times, and it is computed once.
inline constexpr auto heavy_steps =
    kernel<"heavy_steps">([](in<"x", batch, seq> x, in<"s0", batch> s0) -> out<"y", batch, seq> {
      const auto inner = [](auto s) { return 1 + tanh(exp(elu(s) / 2) - sigmoid(s)) / 4; };
      return scan<seq>(
                 s0, [&](auto s, auto x) { return inner(inner(inner(inner(sigmoid(s + x))))); }, x)
          .result;
    });

// Masked elements leave the state unchanged; part of the initial state is absent.
inline constexpr auto masked_steps = kernel<"masked_steps">(
    [](in<"X", batch, seq, c> X, in<"len", i32, batch> len,
       in<"s0", c> s0) -> outs<out<"Y", batch, seq, c>, out<"S", batch, c>, out<"from_mask", c>> {
      auto x = mask_rows(X, index(seq) < len);
      auto [y, s] = scan<seq>(
          broadcast<batch>(s0), [](auto s, auto x) { return std::pair{s / 2 + x, s - 1}; }, x);
      auto some = scan<seq>(
          mask(s0, index(c) < 3), [](auto s, auto x) { return max(s, x) + sum<c>(exp(s)) / 64; },
          sum<batch>(X));
      return {y, s, some.last};
    });

// Results that read each other after the scan; a state that stays, one that forgets, views of it.
inline constexpr auto epilogues = kernel<"epilogues">(
    [](in<"X", seq, d_h> X, in<"h0", d_h> h0)
        -> outs<out<"Y", seq, d_h>, out<"E", d_h>, out<"Z", seq, d_h>, out<"stays", seq, d_h>,
                out<"turned", d_h>, out<"left", seq, d_h>> {
      auto [y, s] = scan<seq>(h0, [](auto s, auto x) { return std::pair{(s + x) / 2, s}; }, X);
      auto e = exp(s);
      auto forgets = scan<seq>(h0, [](auto, auto x) { return x * 2; }, X);
      auto stays =
          scan<seq>(h0, [](auto s, auto x) { return std::pair{let<"kept">(s), s * x}; }, X);
      auto turned = scan<seq>(
          h0,
          [](auto s, auto x) {
            auto halves = split<d_h, two, d_half>(s);
            return x - merge<d_h, two, d_half>(take<two>(halves, 1 - index(two)));
          },
          X);
      auto sums = scan<seq>(h0, [](auto s, auto x) { return s + x; }, X);
      auto left = sums.result - broadcast<seq>(abs(sums.last));
      return {y * e, e + 1, forgets.result * y, stays.result, turned.last, left};
    });

// Results that read the states at some of their positions only.
inline constexpr auto chosen_states =
    kernel<"chosen_states">([](in<"X", seq, c> X, in<"h0", wide, c> h0) -> out<"O", wide, c> {
      auto sums = scan<seq>(h0, [](auto s, auto x) { return s + broadcast<wide>(x); }, X);
      return where(index(wide) > index(c), -1.f, sums.last);
    });

// A state whose sizes the call decides and may be 0, contracted inside; columns that do not fill a
// vector.
inline constexpr auto widths_of_call = kernel<"widths_of_call">(
    [](in<"Q", batch, seq, wide> Q, in<"K", batch, seq, wide> K,
       in<"V", batch, seq, odd> V) -> outs<out<"O", batch, seq, odd>, out<"S", batch, wide, odd>> {
      auto [o, s] = scan<seq>(
          zeros<batch, wide, odd>(),
          [](auto s, auto q, auto k, auto v) {
            auto error = v - dot<wide>(s, tanh(k)) / 8;
            auto next = s + broadcast<odd>(tanh(k)) * broadcast<wide>(error) / 8;
            return std::pair{next, dot<wide>(next, q)};
          },
          Q, K, V);
      return {o, s};
    });

// The first elements of a state that the call may leave empty, and the sums up to each.
inline constexpr auto first_of_state = kernel<"first_of_state">(
    [](in<"X", seq, odd> X, in<"s0", wide, odd> s0) -> outs<out<"Y", seq>, out<"S", wide, odd>> {
      auto [y, s] = scan<seq>(
          s0,
          [](auto s, auto x) {
            auto up = cumsum<wide>(s) / 8;
            auto next = tanh(s / 2 + broadcast<wide>(x) + up);
            return std::pair{next, max<two, odd>(slice<wide, two>(next + up, 0) * x)};
          },
          X);
      return {y, s};
    });

// Positions innermost; static, run-time and static sizes; folds over two axes.
inline constexpr auto positions_innermost = kernel<"positions_innermost">(
    [](in<"X", odd, wide, two, seq> X,
       in<"s0", odd, wide, two> s0) -> outs<out<"Y", odd, wide, seq>, out<"S", two, odd, wide>> {
      auto [y, s] = scan<seq>(
          s0,
          [](auto s, auto x) {
            auto all = broadcast<odd, two>(logsumexp<odd, two>(s - x)) / 16;
            return std::pair{tanh(s + x) / 2 + all, mean<two>(s * x)};
          },
          X);
      return {y, s};
    });

// A state of Mamba: what grows with its size is made step by step.
inline constexpr auto selective = kernel<"selective">(
    [](in<"X", batch, seq, d_in> X, in<"delta", batch, seq, d_in> delta, in<"B", batch, seq, d_k> B,
       in<"C", batch, seq, d_k> C, param<"A", d_in, d_k> A) -> out<"Y", batch, seq, d_in> {
      return scan<seq>(
                 zeros<batch, d_in, d_k>(),
                 [&](auto h, auto x, auto dt, auto b, auto c) {
                   auto next = h * exp(-broadcast<d_k>(abs(dt)) * abs(A)) +
                               broadcast<d_k>(dt * x) * broadcast<d_in>(b);
                   return std::pair{next, dot<d_k>(next, c)};
                 },
                 X, delta, B, C)
          .result;
    });

}  // namespace scans
