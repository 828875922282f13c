// SPDX-License-Identifier: BSL-1.0
#pragma once
// Floating-point formats of 16 bits: rounding into them.
#include <bit>
#include <cmath>
#include <cstdint>

namespace qkv::ptx {

// Rounds to a format with these bits of exponent and fraction: to nearest even, or towards zero.
inline std::uint32_t narrow(double x, int exponent_bits, int fraction, bool to_zero = false) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t sign = std::signbit(x) ? 1u << (exponent_bits + fraction) : 0;
  const std::uint32_t infinity = ((1u << exponent_bits) - 1) << fraction;
  if (std::isnan(x)) return infinity | ((1u << fraction) - 1);
  double m = std::fabs(x);
  if (std::isinf(m)) return sign | infinity;
  if (m == 0) return sign;
  int e = std::ilogb(m);
  if (e < 1 - bias) e = 1 - bias;  // subnormal
  const double scaled = std::ldexp(m, fraction - e);
  double whole = to_zero ? std::trunc(scaled) : std::nearbyint(scaled);
  if (whole >= std::ldexp(1.0, fraction + 1)) whole /= 2, ++e;
  if (e > bias) return sign | (to_zero ? infinity - 1 : infinity);
  const auto bits = static_cast<std::uint32_t>(whole);
  if (bits < (1u << fraction)) return sign | bits;  // subnormal
  return sign | (static_cast<std::uint32_t>(e + bias) << fraction) |
         (bits & ((1u << fraction) - 1));
}
inline float widen(std::uint32_t bits, int exponent_bits, int fraction) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto e = static_cast<int>((bits >> fraction) & ((1u << exponent_bits) - 1));
  const std::uint32_t f = bits & ((1u << fraction) - 1);
  const float sign = bits >> (exponent_bits + fraction) & 1 ? -1.f : 1.f;
  if (e == (1 << exponent_bits) - 1) return f ? NAN : sign * INFINITY;
  if (e == 0) return sign * std::ldexp(static_cast<float>(f), 1 - bias - fraction);
  return sign * std::ldexp(static_cast<float>(f | (1u << fraction)), e - bias - fraction);
}

inline float from_f16(std::uint32_t h) { return widen(h & 0xffff, 5, 10); }
inline std::uint16_t to_f16(double x) { return static_cast<std::uint16_t>(narrow(x, 5, 10)); }
inline float from_bf16(std::uint32_t b) { return std::bit_cast<float>(b << 16); }
inline std::uint16_t to_bf16(double x) { return static_cast<std::uint16_t>(narrow(x, 8, 7)); }
inline std::uint16_t to_bf16(float x) {
  const auto u = std::bit_cast<std::uint32_t>(x);
  if ((u & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

// A value of 16 bits: bf16 or f16.
template <bool B16>
float half_in(std::uint32_t v) {
  return B16 ? from_bf16(v & 0xffff) : from_f16(v);
}
template <bool B16>
std::uint32_t half_out(double v) {
  return B16 ? to_bf16(v) : to_f16(v);
}

// Subnormal numbers become zero (.ftz).
inline float flush(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.f, x) : x;
}

}  // namespace qkv::ptx
