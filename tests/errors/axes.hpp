// SPDX-License-Identifier: BSL-1.0
#pragma once
// The axes of the specs in this folder.
#include <cmath>
#include <qkv/dsl.hpp>

namespace my {

using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 8> heads;
inline constexpr batch_axis<"kv_heads", 2> kv_heads;
inline constexpr axis<"group", 4> group;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"mem"> mem;
inline constexpr axis<"d_model", 512> d_model;
inline constexpr axis<"d_k", 64> d_k;
inline constexpr axis<"d_v", 32> d_v;

using Q_ = in<"Q", batch, heads, seq, d_k>;
using K_ = in<"K", batch, heads, kv, d_k>;
using V_ = in<"V", batch, heads, kv, d_v>;

// A cache with room left, as a kernel reads it.
inline constexpr axis<"slots"> slots;
using StoredK_ = in<"K", batch, heads, slots, d_k>;
using StoredV_ = in<"V", batch, heads, slots, d_v>;
using Length_ = in<"length", i32, batch>;

}  // namespace my
