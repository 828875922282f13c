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
inline constexpr axis<"d_k", 16> d_k;
inline constexpr axis<"d_v", 24> d_v;
inline constexpr axis<"wide"> wide;
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

}  // namespace scans
