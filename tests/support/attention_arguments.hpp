// SPDX-License-Identifier: BSL-1.0
#pragma once
// The arguments of attentions by type and head size, for specs: to be used with names of their own.
#include <qkv/dsl.hpp>

namespace attention_arguments {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads"> heads;  // of keys and values
inline constexpr batch_axis<"group"> group;  // query heads that share a key head
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;  // self-attention
inline constexpr axis<"keys"> keys;    // cross-attention: as many as the call sets
template <long N>
inline constexpr axis<"d", N> d;

template <auto T, long D>
using queries = in<"Q", T, batch, heads, seq, d<D>>;
template <auto T, auto J, long D>
using keyed = in<"K", T, batch, heads, J, d<D>>;
template <auto T, auto J, long D>
using valued = in<"V", T, batch, heads, J, d<D>>;
template <auto T, long D>
using result = out<"O", T, batch, heads, seq, d<D>>;
}  // namespace attention_arguments
