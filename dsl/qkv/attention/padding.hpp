#pragma once
// Sequences of different length in one batch.
#include <qkv/ops/index.hpp>
#include <qkv/ops/logic.hpp>

namespace qkv {

// Computes: whether the key lies within the length: mask(scores, padding<kv>(length)).
// Shapes:   [key] and those of length, as in<"length", i32, batch>
// Numerics: b8.
// Errors:   none here.
template <an_axis auto Key, operand Length>
constexpr auto padding(Length length) {
  return index(Key) < length;
}

}  // namespace qkv
