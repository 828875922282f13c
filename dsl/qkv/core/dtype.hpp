#pragma once
// Element types of inputs and outputs. Tags are values: in<"len", i32, batch>,
// tensor<f32, batch, seq>.
#include <cstdint>
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

// The most positions that an axis has in any call. Compiled code counts them in i32, and rounds
// them up to whole vectors, tiles and blocks of threads, of which none has more than 4096.
inline constexpr std::int64_t longest_axis = (std::int64_t{1} << 31) - 4096;

}  // namespace qkv
