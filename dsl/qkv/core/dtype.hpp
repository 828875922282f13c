// SPDX-License-Identifier: BSL-1.0
#pragma once
// Element types of inputs and outputs. Tags are values: in<"len", i32, batch>,
// tensor<f32, batch, seq>.
#include <string_view>

namespace qkv {

enum class dtype : unsigned char { f32, bf16, f16, f64, i32, b8 };

inline constexpr dtype f32 = dtype::f32;    // 4 bytes, the default
inline constexpr dtype bf16 = dtype::bf16;  // 2 bytes
inline constexpr dtype f16 = dtype::f16;    // 2 bytes
inline constexpr dtype f64 = dtype::f64;    // 8 bytes
inline constexpr dtype i32 = dtype::i32;    // 4 bytes: lengths and indices
inline constexpr dtype b8 = dtype::b8;      // 1 byte, 0 or 1: masks

constexpr std::string_view name_of(dtype t) {
  constexpr std::string_view names[] = {"f32", "bf16", "f16", "f64", "i32", "b8"};
  return names[static_cast<int>(t)];
}

constexpr int size_of(dtype t) {
  constexpr int bytes[] = {4, 2, 2, 8, 4, 1};
  return bytes[static_cast<int>(t)];
}

}  // namespace qkv
