// SPDX-License-Identifier: BSL-1.0
#pragma once
// Sequences of different length in one batch.
#include <qkv/attention/causal.hpp>
#include <qkv/core/formula.hpp>
#include <qkv/ops/index.hpp>
#include <qkv/ops/logic.hpp>

namespace qkv {

// Computes: whether the key lies within the length: mask(scores, padding<kv>(length)).
// Shapes:   [key] and those of length, as in<"length", i32, batch>
// Numerics: b8.
// Errors:   sizes that differ.
template <an_axis auto Key, detail::alignment... Number>
inline constexpr auto padding =
    formula<"padding(length)">([](operand auto length) { return index(Key) < length; });
template <an_axis auto Key, detail::alignment... Number>
  requires(sizeof...(Number) > 0)
inline constexpr auto padding<Key, Number...> =
    detail::number_in_brackets<"padding", core::axes_of<Key>(), Number...>;

}  // namespace qkv
