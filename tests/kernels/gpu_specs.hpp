// SPDX-License-Identifier: BSL-1.0
#pragma once
// Kernels with many axes of all kinds of sizes, whose positions GPU schedules map to blocks and
// threads.
#include <qkv/dsl.hpp>

namespace grids {
using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"pair", 2> pair;
inline constexpr batch_axis<"triple", 3> triple;
inline constexpr batch_axis<"query_heads"> query_heads;
inline constexpr batch_axis<"key_heads"> key_heads;
inline constexpr batch_axis<"group"> group;
inline constexpr axis<"t"> t;
inline constexpr axis<"s"> s;
inline constexpr alias<"turn", t> turn;
inline constexpr axis<"mem"> mem;
inline constexpr axis<"d", 8> d;
inline constexpr axis<"h", 5> h;
inline constexpr axis<"four", 4> four;
inline constexpr axis<"three", 3> three;
inline constexpr axis<"forty", 40> forty;
inline constexpr axis<"one", 1> one;
inline constexpr alias<"own", one> own;

// Three axes besides the rows of a contraction.
inline constexpr auto five_axes = kernel<"five_axes">(
    [](in<"X", batch, pair, t, s, d> X, in<"W", d, h> W) -> out<"Y", batch, pair, t, s, h> {
      return dot<d>(X, W);
    });

// Alternating static and run-time sizes; two axes merged into one.
inline constexpr auto in_turns = kernel<"in_turns">(
    [](in<"X", pair, t, d, s> X,
       in<"Z", t, pair, s, four> Z) -> outs<out<"Y", pair, t, d, s>, out<"M", s, d, t>> {
      return {X * 2.f + 1.f, merge<d, pair, four>(Z)};
    });

// The call decides the number of key heads and the size of a group.
inline constexpr auto groups_of_call = kernel<"groups_of_call">(
    [](in<"Q", batch, query_heads, s, d> Q, in<"K", batch, key_heads, mem, d> K,
       in<"V", batch, key_heads, mem, h> V) -> out<"O", batch, query_heads, s, h> {
      auto scores = dot<d>(split<query_heads, key_heads, group>(Q), K);
      return merge<query_heads, key_heads, group>(dot<mem>(softmax<mem>(scores), V));
    });

// Two axes of one size, which the call decides, share the keys.
inline constexpr auto turns_of_call = kernel<"turns_of_call">(
    [](in<"Q", turn, t, d> Q, in<"K", mem, d> K, in<"V", mem, h> V) -> out<"O", turn, t, h> {
      return dot<mem>(softmax<mem>(dot<d>(Q, K)), V);
    });

// More rows than a tile for few rows has, unless the axis that the call decides is empty.
inline constexpr auto many_turns =
    kernel<"many_turns">([](in<"Q", t, d> Q, in<"W", three, d> W, in<"Z", forty, three, t> Z,
                            in<"w", three> w) -> out<"O", forty, t> {
      return dot<three>(broadcast<forty>(dot<d>(Q, W)) + Z, w);
    });

inline constexpr auto sums_of_five = kernel<"sums_of_five">(
    [](in<"X", batch, pair, t, s, d> X)
        -> outs<out<"max", batch, pair, t, s>, out<"so_far", batch, pair, t, s, d>> {
      return {max<d>(X), cumsum<pair>(X)};
    });

// A stored step with three numbers per row, read along its rows.
inline constexpr auto three_apart =
    kernel<"three_apart">([](in<"X", s, three> X, in<"Z", t, three> Z) -> out<"Y", s, t> {
      return dot<three>(X, cumsum<t>(Z));
    });

// Values that are stored with three numbers per column, read along their columns.
inline constexpr auto three_apart_values = kernel<"three_apart_values">(
    [](in<"Q", triple, s, d> Q, in<"K", triple, mem, d> K, in<"X", mem, four, d> X,
       in<"W", d, triple> W) -> out<"O", triple, s, four> {
      return dot<mem>(softmax<mem>(dot<d>(Q, K)), dot<d>(X, W));
    });

// Keys behind the only one never count, which the code generator knows.
inline constexpr auto one_key =
    kernel<"one_key">([](in<"Q", own, d> Q, in<"K", one, d> K, in<"n", i32, one> n,
                         in<"V", one, d> V) -> out<"O", own, d> {
      return dot<one>(mask(dot<d>(Q, K), index(one) < n), V);
    });

// A condition on the batch decides about the scores of a tile: for most keys none count.
inline constexpr auto scores_by_batch = kernel<"scores_by_batch">(
    [](in<"Q", batch, t, d> Q, in<"K", batch, h, d> K) -> out<"O", batch, d, t> {
      return dot<h>(where(index(batch) > index(h), dot<d>(Q, K), 0), K);
    });

// A number per row inside of a product, without features.
inline constexpr auto shifted_keys =
    kernel<"shifted_keys">([](in<"shift", t> shift, in<"a", d> a, in<"K", mem, d> K,
                              in<"V", mem, four> V) -> out<"O", t, four> {
      return dot<mem>(softmax<mem>(dot<d>(a, tanh(broadcast<t>(K) + broadcast<mem, d>(shift)))), V);
    });

// Positions of a table that each row of a tile computes for itself.
inline constexpr auto keys_at_positions =
    kernel<"keys_at_positions">([](in<"X", batch, mem, d> X, in<"first", i32> first, in<"a", d> a,
                                   in<"V", mem, four> V) -> out<"O", three, four> {
      return dot<mem>(plain(relu(dot<d>(a, slice<batch, three>(X, first)))), V);
    });

// A distance is compared with numbers next to the lowest i32.
inline constexpr auto not_within = kernel<"not_within">(
    [](in<"low", i32> low, in<"X", batch, pair, d> X) -> out<"O", pair, batch> {
      return dot<d>(cast<f32>(abs(index(d) - index(pair)) < low), X);
    });

// Nothing, or NaN where an element is infinite.
inline constexpr auto less_itself =
    kernel<"less_itself">([](in<"X", batch, d> X) -> outs<out<"Y", batch>, out<"Z", d>> {
      return {dot<d>(X - X, X - X), sum<batch>(X * 2 - (X + X))};
    });

}  // namespace grids
