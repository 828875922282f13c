// SPDX-License-Identifier: BSL-1.0
#pragma once
// The 16-bit storage types as bits, from and to f32: rounding to nearest even, infinities and NaN
// kept.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <qkv/core/dtype.hpp>

namespace qkv {

constexpr float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

constexpr std::uint16_t to_bf16(float x) {
  const auto u = std::bit_cast<std::uint32_t>(x);
  if (x != x) return static_cast<std::uint16_t>(u >> 16 | 0x40);
  return static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

constexpr float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits} >> 15 << 31, exponent = bits >> 10 & 31,
                      fraction = bits & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) {  // a multiple of 2^-24
    const float x = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -x : x;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

constexpr std::uint16_t to_f16(float x) {
  const auto u = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = u >> 31 << 15, rest = u & 0x7fffffff;
  if (x != x) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (rest >= 0x477ff000) return static_cast<std::uint16_t>(sign | 0x7c00);  // 65520 and more
  if (rest < 0x38800000) {  // below 2^-14: adding 1/2 rounds to a multiple of 2^-24 in its low bits
    const float magnitude = std::bit_cast<float>(rest) + 0.5f;
    return static_cast<std::uint16_t>(sign |
                                      (std::bit_cast<std::uint32_t>(magnitude) - 0x3f000000));
  }
  return static_cast<std::uint16_t>(sign | (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13);
}

// The number that storage of this type keeps of x.
inline double stored(dtype type, double x) {
  switch (type) {
    case f32:
      return static_cast<float>(x);
    case bf16:
      return from_bf16(to_bf16(static_cast<float>(x)));
    case f16:
      return from_f16(to_f16(static_cast<float>(x)));
    case f64:
      return x;
    case i32:  // an infinity is the end of the range: the minimum of nothing
      return std::clamp(std::trunc(x), -0x1p31, 0x1p31 - 1) + 0;  // not -0
    case b8:
      return x != 0 ? 1 : 0;
  }
  return x;
}

// The i32 that whole numbers beyond its range wrap around to: the one that is equal modulo 2^32.
constexpr std::int32_t wrapped(std::int64_t x) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(x));
}

// Half the distance from 1 to the next number of the type: the largest relative error of rounding
// to it.
constexpr double unit_roundoff(dtype type) {
  return type == bf16 ? 0x1p-8 : type == f16 ? 0x1p-11 : type == f64 ? 0x1p-53 : 0x1p-24;
}

}  // namespace qkv
