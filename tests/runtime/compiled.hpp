// SPDX-License-Identifier: BSL-1.0
#pragma once
// Small compiled kernels, which test the runtime's promises about threads, memory, sizes and
// devices.
#include <qkv/dsl.hpp>

namespace compiled {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 4> heads;
inline constexpr axis<"seq"> seq;
inline constexpr axis<"kv"> kv;
inline constexpr axis<"d_model", 96> d_model;
inline constexpr axis<"d", 32> d;
inline constexpr axis<"inner"> inner;
inline constexpr axis<"columns"> columns;

inline constexpr auto attend =
    kernel<"attend">([](in<"Q", batch, heads, seq, d> Q, in<"K", batch, heads, kv, d> K,
                        in<"V", batch, heads, kv, d> V) -> out<"O", batch, heads, seq, d> {
      return dot<kv>(softmax<kv>(dot<d>(Q, K) / sqrt(d)), V);
    });

inline constexpr auto project =
    kernel<"project">([](in<"X", batch, seq, d_model> X, param<"W", d_model, heads, d> W,
                         param<"b", heads, d> b) -> out<"Y", batch, heads, seq, d> {
      return dot<d_model>(X, W) + b;
    });

// Stores the scores of all pairs twice: named and unnamed.
inline constexpr auto pairs = kernel<"pairs">([](in<"A", seq> A, in<"B", kv> B) -> out<"S", seq> {
  auto scores = let<"scores">(normalize<kv>(broadcast<kv>(A) * broadcast<seq>(B)));
  return sum<kv>(scores / (1 + sum<seq>(scores)));
});
// A scan, which holds its state twice.
inline constexpr auto halved =
    kernel<"halved">([](in<"X", seq> X, in<"S0", kv, columns> S0) -> out<"S", kv> {
      return sum<columns>(scan<seq>(S0, [](auto s, auto x) { return s / 2 + x; }, X).last);
    });
// A step whose contraction has more terms than memory has elements.
inline constexpr auto mixed = kernel<"mixed">(
    [](in<"X", seq> X, in<"S0", kv, columns> S0, param<"W", columns, inner> W) -> out<"S", kv> {
      return sum<columns>(
          scan<seq>(
              S0, [&](auto s, auto x) { return s * x * sum<kv, inner>(dot<columns>(s, W)); }, X)
              .last);
    });
// Its input may be one number, repeated.
inline constexpr auto total =
    kernel<"total">([](in<"A", seq, kv> A) -> out<"S", seq> { return sum<kv>(A); });

// Params of which the call decides the sizes.
inline constexpr auto low_rank = kernel<"low_rank">(
    [](in<"X", seq, inner> X, param<"W", inner, columns> W,
       param<"c", columns> c) -> out<"Y", seq, columns> { return dot<inner>(X, W) + c; });
inline constexpr auto inner_product = kernel<"inner_product">(
    [](in<"X", seq, inner> X, param<"w", inner> w) -> out<"Y", seq> { return dot<inner>(X, w); });
inline constexpr auto of_two = kernel<"of_two">(
    [](in<"X", seq, inner, columns> X, param<"W", inner, columns, d> W) -> out<"Y", seq, d> {
      return dot<inner, columns>(X, W);
    });

// Sums of positions that the sizes of a call may carry beyond i32, and products, which wrap around.
inline constexpr auto beyond = kernel<"beyond">([](in<"X", kv> X, in<"A", seq> A) -> out<"Y", seq> {
  return take<kv>(X, index(seq) + 2147480000) + A;
});
inline constexpr auto from_end = kernel<"from_end">([](in<"X", i32, seq> X) -> out<"Y", i32, seq> {
  return X + where(size(seq) < 46341, size(seq) * size(seq) - index(seq), -1);
});
// Products of positions, and of a cast, which keeps to i32.
inline constexpr auto leaps =
    kernel<"leaps">([](in<"X", kv> X, in<"A", seq> A) -> outs<out<"Y", seq>, out<"Z", seq>> {
      return {take<kv>(X, cast<i32>(cast<f32>(index(seq)) * 1e8f) * 3) + A,
              take<kv>(X, index(seq) * 100000) + A};
    });
// Positions that depend on an input, up to the ends of i32.
inline constexpr auto part =
    kernel<"part">([](in<"X", seq> X, in<"first", i32> first, in<"Y0", kv> Y0) -> out<"Y", kv> {
      return slice<seq, kv>(X, first) + Y0;
    });
inline constexpr auto windowed = kernel<"windowed">(
    [](in<"A", seq> A, in<"V", kv> V, in<"w", i32> w) -> outs<out<"Y", seq>, out<"Z", seq>> {
      auto scores = broadcast<kv>(A) * broadcast<seq>(V);
      auto near = index(seq) - index(kv) < w;
      auto late = size(kv) - index(kv) - 1 <= index(seq) - 2147483647 + w;
      auto far = index(seq) - index(kv) < 2147483647;
      return {dot<kv>(softmax<kv>(mask(scores, near)), V),
              sum<kv>(broadcast<seq>(V) * where(late && far, 1.f, 0.f))};
    });
// How many keys each query compares with, by ten formulas.
inline constexpr auto compared = kernel<"compared">(
    [](in<"A", i32, seq> A, in<"B", i32, kv> B, in<"w", i32> w)
        -> outs<out<"a", i32, seq>, out<"b", i32, seq>, out<"c", i32, seq>, out<"d", i32, seq>,
                out<"e", i32, seq>, out<"f", i32, seq>, out<"g", i32, seq>, out<"h", i32, seq>,
                out<"i", i32, seq>, out<"j", i32, seq>> {
      auto q = index(seq);
      auto k = index(kv);
      auto n = size(kv);
      const auto count = [&](auto condition) {
        auto both = broadcast<kv>(A) + broadcast<seq>(B);
        return sum<kv>(where(condition, both + 1, both));
      };
      return {count(q - k <= w),         count(q - k <= w - 3),
              count(k - 2 < w),          count(q - 9 < w && k <= q),
              count(n - k <= q + w),     count(n - k < w + 1),
              count(n - k - 1 <= w - q), count(k - w <= q),
              count(k - q + w >= 0),     count(w < q - k)};
    });
inline constexpr auto later =
    kernel<"later">([](in<"A", seq> A, in<"V", kv> V, in<"gap", i32> gap) -> out<"Y", seq> {
      auto scores = broadcast<kv>(A) * broadcast<seq>(V);
      return dot<kv>(softmax<kv>(mask(scores, index(kv) > index(seq) + gap)), V);
    });

// Positions alone against a number from an input, in every comparison, from both sides.
inline constexpr auto parted = kernel<"parted">(
    [](in<"V", kv> V, in<"w", i32> w)
        -> outs<out<"a", kv>, out<"b", kv>, out<"c", kv>, out<"e", kv>, out<"f", kv>, out<"g", kv>,
                out<"h", kv>, out<"i", kv>, out<"j", kv>, out<"k", kv>> {
      auto k = index(kv);
      const auto where_true = [&](auto condition) { return where(condition, V, 0); };
      return {where_true(k < w),         where_true(k <= w),
              where_true(k > w),         where_true(k >= w),
              where_true(k == w),        where_true(k != w),
              where_true(w < k),         where_true(w >= k),
              where_true(min(k, 9) < w), where_true(where(k < 5, k, w) < w)};
    });
// The same in every kind of stage.
inline constexpr auto stages = kernel<"stages">(
    [](in<"X", seq, d> X, in<"V", kv, d> V, param<"W", d, inner> W, in<"S0", d> S0,
       in<"w", i32> w) -> outs<out<"after", seq, inner>, out<"before", seq, d>, out<"total", d>,
                               out<"streamed", seq, d>, out<"state", d>, out<"weights", seq, kv>> {
      auto early = index(kv) < w;
      auto weights = softmax<kv>(mask(dot<d>(X, V), index(kv) <= w));
      return {where(index(seq) < w, dot<d>(X, W), 0),
              dot<kv>(where(early, broadcast<kv>(sum<d>(X)), 0), V),
              sum<kv>(where(early, V, 0)),
              dot<kv>(softmax<kv>(mask(dot<d>(X, V), index(kv) >= w)), V),
              scan<seq>(
                  S0, [&](auto s, auto x) { return where(index(d) < w, s + x, s); }, X)
                  .last,
              weights};
    });

}  // namespace compiled
