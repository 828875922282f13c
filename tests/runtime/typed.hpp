// SPDX-License-Identifier: BSL-1.0
#pragma once
// The kernels of fake.hpp as the typed call sees them.
#include <qkv/call.hpp>
#include <qkv/dsl.hpp>

namespace spec {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr axis<"seq"> seq;
inline constexpr axis<"kv"> kv;
inline constexpr axis<"d", 4> d;
inline constexpr axis<"k"> k;
inline constexpr axis<"n"> n;
inline constexpr axis<"m", 3> m;

inline constexpr auto blend =
    kernel<"blend">([](in<"Q", batch, seq, d> Q, in<"K", batch, kv, d>,
                       in<"V", batch, kv, d>) -> out<"O", batch, seq, d> { return Q; });
inline constexpr auto project = kernel<"project">(
    [](in<"X", seq, k> X, param<"W", k, n, m> W) -> out<"Y", seq, n, m> { return dot<k>(X, W); });
inline constexpr alias<"e", d> e;
inline constexpr auto aliased =
    kernel<"aliased">([](in<"X", seq, d> X, in<"Z", seq, e>) -> out<"Y", seq, d> { return X; });
// Linked in nowhere.
inline constexpr auto absent =
    kernel<"absent">([](in<"X", seq, k> X) -> out<"Y", seq, k> { return X; });

namespace newer {
// The library that is linked in has another one of this name.
inline constexpr auto blend =
    kernel<"blend">([](in<"Q", batch, seq, m> Q, in<"K", batch, kv, d>,
                       in<"V", batch, kv, d>) -> out<"O", batch, seq, m> { return Q; });
}  // namespace newer

}  // namespace spec
