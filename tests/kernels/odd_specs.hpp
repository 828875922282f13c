// SPDX-License-Identifier: BSL-1.0
#pragma once
// Unusual combinations: each is the smallest kernel that a rule of the code generator once got
// wrong.
#include <qkv/dsl.hpp>

namespace odd {
using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr axis<"s"> s;
inline constexpr axis<"t"> t;
inline constexpr axis<"all"> all;
inline constexpr alias<"kv", s> kv;
inline constexpr axis<"d", 17> d;
inline constexpr axis<"e", 5> e;
inline constexpr axis<"front", 4> front;
inline constexpr axis<"single", 1> single;
inline constexpr axis<"first", 1> first;
inline constexpr axis<"two", 2> two;
inline constexpr axis<"half", 2> half;
inline constexpr axis<"rest", 13> rest;
inline constexpr axis<"h", 40> h;
inline constexpr axis<"wide", 64> wide;
inline constexpr axis<"part", 30> part;
inline constexpr axis<"both", 22> both;
inline constexpr axis<"entries", 16> entries;

// ---- conditions on positions after a contraction ------------------------------------------------
inline constexpr auto chosen_by_position = kernel<"chosen_by_position">(
    [](in<"X", s, d> X, param<"W", d, h> W, in<"Y", s, e> Y, param<"U", e, h> U) -> out<"O", s, h> {
      return where(index(h) < index(s), dot<d>(X, W), dot<e>(Y, U));
    });

inline constexpr auto low_before_causal =
    kernel<"low_before_causal">([](in<"Q", s, d> Q, in<"K", kv, d> K) -> out<"O", s, kv> {
      return where(causal<s, kv>, dot<d>(Q, K), -1e9);
    });

// ---- a part of a product ------------------------------------------------------------------------
inline constexpr auto late_slice =
    kernel<"late_slice">([](in<"X", s, d> X, param<"W", d, wide> W) -> out<"O", s, part> {
      return slice<wide, part>(dot<d>(X, W), 34);
    });

inline constexpr auto by_distance =
    kernel<"by_distance">([](in<"Q", s, d> Q, param<"R", wide, d> R) -> out<"O", s, kv> {
      return take<wide>(dot<d>(Q, R), index(kv) - index(s) + 32);
    });

inline constexpr auto shifted_rows = kernel<"shifted_rows">(
    [](in<"Q", s, d> Q, param<"W", d, h> W, in<"shift", i32> shift) -> out<"O", t, h> {
      return take<s>(dot<d>(Q, W), index(t) + shift);
    });

// A sum over a run-time axis that may be empty, and over a static one.
inline constexpr auto over_none = kernel<"over_none">(
    [](in<"X", s, t, d> X, param<"W", t, d, h> W) -> out<"O", s, h> { return dot<t, d>(X, W); });

// Rows of an empty whole: one of its two parts is empty, the other is not.
inline constexpr auto split_in_two =
    kernel<"split_in_two">([](in<"X", all, e> X, in<"Y", s, t> Y) -> out<"O", e> {
      return dot<s, t>(split<all, s, t>(exp(X)), Y);
    });

inline constexpr auto rows_of_none = kernel<"rows_of_none">(
    [](in<"X", s, d> X, in<"i", i32, t> i) -> out<"O", t, d> { return take<s>(exp(X), i); });

// ---- weights that are not a softmax of scores ---------------------------------------------------
inline constexpr auto weights_with_themselves =
    kernel<"weights_with_themselves">([](in<"X", t> X) -> out<"O"> {
      auto w = softmax<t>(X);
      return dot<t>(w, w);
    });

// The same beside a dot that streams.
inline constexpr auto weights_twice = kernel<"weights_twice">([](in<"X", t> X) -> out<"O"> {
  auto w = softmax<t>(X);
  return max(dot<t>(X, w), dot<t>(w, w));
});

// A first row that sees position 0 at most, of keys of which there may be none.
inline constexpr auto first_of_none = kernel<"first_of_none">(
    [](in<"S", e, t> S, in<"keep", b8, e, t> keep, in<"X", t> X) -> out<"O", e> {
      return dot<t>(softmax<t>(mask(S, keep && causal<e, t, align::first>)), X);
    });

inline constexpr auto counted =
    kernel<"counted">([](in<"Q", s, d> Q, in<"K", kv, d> K, in<"V", kv, e> V) -> out<"O", s, e> {
      return dot<kv>(where(dot<d>(Q, K) > 0, 1, 0), V);
    });

// One query, whose scores and what the call says of the keys hide keys together.
inline constexpr auto kept_of_one = kernel<"kept_of_one">(
    [](in<"q", d> q, in<"K", s, d> K, in<"keep", b8, s> keep, in<"V", s, e> V) -> out<"O", e> {
      auto scores = dot<d>(q, K);
      return dot<s>(softmax<s>(mask(scores, keep && scores > 0)), V);
    });
inline constexpr auto kept_of_a_number = kernel<"kept_of_a_number">(
    [](in<"q", first> q, in<"K", s, first> K, in<"keep", b8, s> keep, in<"V", s> V) -> out<"O"> {
      auto scores = dot<first>(q, K);
      return dot<s>(softmax<s>(mask(scores, keep && scores > 0)), V);
    });

// Values of several batch entries under the weights of one query, with one logsumexp for all of
// them.
inline constexpr auto lse_of_all = kernel<"lse_of_all">([
](in<"Q", d> Q, in<"K", s, d> K, in<"V", batch, s, e> V) -> outs<out<"O", batch, e>, out<"lse">> {
  auto scores = dot<d>(Q, K);
  return {dot<s>(softmax<s>(scores), V), logsumexp<s>(scores)};
});

// ---- reverse ------------------------------------------------------------------------------------
// Both sizes are fixed and fill no vector; once from an argument, once from a stored step.
inline constexpr auto in_reverse = kernel<"in_reverse">(
    [](in<"x", d> x, in<"Y", s, e> Y,
       param<"W", e, d> W) -> outs<out<"ends", e>, out<"sums", e>, out<"all", d>> {
      auto y = sum<s>(dot<e>(Y, W));
      return {mask(take<d>(x, size(e) - 1 - index(e)), !(1 < index(e))),
              take<d>(y, size(e) - 1 - index(e)), take<d>(y, size(d) - 1 - index(d)) + y};
    });

// ---- 16 bits ------------------------------------------------------------------------------------
inline constexpr auto rounded_between = kernel<"rounded_between">(
    [](in<"A", s, t> A, in<"X", i32, t, e> X, param<"W", i32, e, h> W) -> out<"O", s, h> {
      return dot<t>(A, cast<bf16>(dot<e>(X, W)));  // integers: no rounding to disagree on
    });

inline constexpr auto unused_arguments =
    kernel<"unused_arguments">([](in<"X", s> X, in<"Y", f16, s>, in<"Z", bf16, t>,
                                  param<"P", bf16, d>) -> out<"O", s> { return X * 2; });

inline constexpr auto turned_front =
    kernel<"turned_front">([](in<"X", f16, s, d> X, param<"cos", s, half> cos,
                              param<"sin", s, half> sin) -> out<"O", f16, s, d> {
      return cast<f16>(rope_partial<d, front, rest>(
          X, [&](auto y) { return rope<front, two, half>(y, cos, sin); }));
    });

// One part is rounded here, the other is read as it was stored.
inline constexpr auto joined_halves = kernel<"joined_halves">([
](in<"A", d> A, in<"B", f16, e> B, in<"C", bf16, d> C) -> outs<out<"x", both>, out<"y", both>> {
  return {concat<both, d, e>(cast<f16>(A), B), concat<both, e, d>(cast<bf16>(cast<f32>(B)), C)};
});

// ---- whole numbers ------------------------------------------------------------------------------
// A magnitude next to a negative number; a magnitude as a bound of keys.
inline constexpr auto magnitudes = kernel<"magnitudes">(
    [](in<"A", i32, d> A, in<"B", i32, e> B, in<"V", s> V) -> outs<out<"x", both>, out<"y", e>> {
      auto scores = broadcast<e>(V) + cast<f32>(broadcast<s>(B));
      return {cast<f32>(concat<both, d, e>(abs(A), B)),
              dot<s>(softmax<s>(mask(scores, index(s) < abs(B))), V)};
    });

// Whole division by a step that is not a power of two: products of a cast.
inline constexpr auto every_third = kernel<"every_third">(
    [](in<"Q", s, d> Q, in<"K", kv, d> K, in<"V", kv, e> V) -> outs<out<"O", s, e>, out<"m", s>> {
      auto scores = mask(dot<d>(Q, K), dilated<s, kv, align::first>(3));
      return {dot<kv>(softmax<kv>(scores), V), max<kv>(scores)};
    });

// Keys that a sum bounds: few positions, fewer than a tile.
inline constexpr auto few_by_sum =
    kernel<"few_by_sum">([](in<"A", single, first> A, in<"B", two, first> B, in<"last", i32> last,
                            in<"V", two> V) -> out<"O", single> {
      return dot<two>(mask(dot<first>(A, B), last - index(two) >= index(single)), V);
    });

// Scores whose contraction is also an operand of other scores of the same stage.
inline constexpr auto scores_of_scores = kernel<"scores_of_scores">(
    [](in<"A", s, d> A, in<"B", kv, d> B, in<"C", kv, e> C, in<"V", s, d> V) -> out<"O", kv, d> {
      auto scores = dot<d>(A, B);
      auto again = dot<e>(C, dot<kv>(scores, C));
      return dot<s>(again + scores, V);
    });

// Masked sums, not weights, of the keys behind a number of the call: their loop has no inner part.
inline constexpr auto behind_bound =
    kernel<"behind_bound">([](in<"Q", s, front> Q, in<"K", kv, front> K, in<"V", kv, single> V,
                              in<"bound", i32> bound) -> out<"O", s, single> {
      return dot<kv>(mask(dot<front>(Q, K), index(kv) > bound - 3), V);
    });

// The sign of a zero that a conversion to whole numbers drops; a magnitude of a choice.
inline constexpr auto over_whole = kernel<"over_whole">(
    [](in<"x", s> x, in<"y", s> y) -> out<"z", s> { return y / cast<i32>(x); });
inline constexpr auto magnitude_of_choice =
    kernel<"magnitude_of_choice">([](in<"flag", b8> flag) -> out<"x"> {
      return abs(where(flag, 0.0, -std::numeric_limits<double>::infinity()));
    });

// ---- positions before the first -----------------------------------------------------------------
// A vector of the table never begins two entries before it, though Halide writes one.
inline constexpr auto before_the_table = kernel<"before_the_table">(
    [](in<"T", entries> T) -> out<"O", s> { return softmax<s>(take<entries>(T, index(s) - 2)); });

// ---- axes of one position -----------------------------------------------------------------------
inline constexpr batch_axis<"one", 1> one;
// The order of contractions leaves one over no axis.
inline constexpr auto chain_over_one = kernel<"chain_over_one">(
    [](in<"X", one, s, single> X, in<"z", one, single> z, param<"w", one> w) -> out<"O", s> {
      return dot<one>(dot<single>(z, X), w);
    });

// ---- names --------------------------------------------------------------------------------------
// The axis of one part also occurs in the other.
inline constexpr auto joined_squares = kernel<"joined_squares">([
](in<"A", s, d> A, in<"B", d, e> B) -> out<"O", s, both, d> { return concat<both, d, e>(A, B); });

// How many features of the queries a product needs depends on the key.
inline constexpr auto features_up_to_key =
    kernel<"features_up_to_key">([](in<"Q", batch, s, d> Q, in<"K", batch, kv, d> K,
                                    in<"V", batch, kv, e> V) -> out<"O", batch, s, e> {
      return dot<kv>(softmax<kv>(dot<d>(Q, mask(K, index(d) <= index(kv)))), V);
    });

// Arguments named like the Func through which Halide reads another one, and like the size of an
// axis.
inline constexpr auto borrowed_names = kernel<"borrowed_names">(
    [](in<"Q", s> Q, in<"Q_im", s> A, in<"size__s", s> B, in<"last__s", s> C) -> out<"at_s", s> {
      return let<"Q">(exp(Q)) * let<"A">(tanh(A) + B) + C;
    });

}  // namespace odd
