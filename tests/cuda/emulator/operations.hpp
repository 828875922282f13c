// SPDX-License-Identifier: BSL-1.0
#pragma once
// Loops over lanes for operations of one, two, and three operands, by type.
#include <cstdint>
#include <type_traits>

#include "tests/cuda/emulator/lanes.hpp"
#include "tests/cuda/emulator/numbers.hpp"

namespace qkv::ptx {

template <class T, auto F>
void unary(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<T>(w, i);
  const auto *a = src<T>(w, i, 0);
  for_lanes(m, [&](int l) { put<T>(d, l, static_cast<T>(F(get<T>(a, l)))); });
}
template <class T, auto F>
void binary(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<T>(w, i);
  const auto *a = src<T>(w, i, 0), *b = src<T>(w, i, 1);
  for_lanes(m, [&](int l) { put<T>(d, l, static_cast<T>(F(get<T>(a, l), get<T>(b, l)))); });
}
template <class T, auto F>
void ternary(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<T>(w, i);
  const auto *a = src<T>(w, i, 0), *b = src<T>(w, i, 1), *c = src<T>(w, i, 2);
  for_lanes(
      m, [&](int l) { put<T>(d, l, static_cast<T>(F(get<T>(a, l), get<T>(b, l), get<T>(c, l)))); });
}
// The second operand is a 32-bit count.
template <class T, auto F>
void shift(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<T>(w, i);
  const auto *a = src<T>(w, i, 0);
  const auto *b = src<std::uint32_t>(w, i, 1);
  for_lanes(m, [&](int l) { put<T>(d, l, static_cast<T>(F(get<T>(a, l), b[l]))); });
}

inline bool is_float(type t) { return t == type::f32 || t == type::f64; }
inline bool is_half(type t) {
  return t == type::f16 || t == type::bf16 || t == type::f16x2 || t == type::bf16x2;
}

template <auto F>
handler unary_int(type t) {
  switch (size_of(t)) {
    case 2:
      return t == type::s16 ? unary<std::int16_t, F> : unary<std::uint16_t, F>;
    case 4:
      return t == type::s32 ? unary<std::int32_t, F> : unary<std::uint32_t, F>;
    case 8:
      return t == type::s64 ? unary<std::int64_t, F> : unary<std::uint64_t, F>;
  }
  return nullptr;
}
template <auto F>
handler binary_int(type t) {
  switch (size_of(t)) {
    case 1:
      return binary<std::uint32_t, F>;  // predicates
    case 2:
      return t == type::s16 ? binary<std::int16_t, F> : binary<std::uint16_t, F>;
    case 4:
      return t == type::s32 ? binary<std::int32_t, F> : binary<std::uint32_t, F>;
    case 8:
      return t == type::s64 ? binary<std::int64_t, F> : binary<std::uint64_t, F>;
  }
  return nullptr;
}
template <auto F>
handler binary_unsigned(type t) {  // wraps around
  switch (size_of(t)) {
    case 2:
      return binary<std::uint16_t, F>;
    case 4:
      return binary<std::uint32_t, F>;
    case 8:
      return binary<std::uint64_t, F>;
  }
  return nullptr;
}
template <auto F>
handler binary_float(type t) {
  return t == type::f64 ? binary<double, F> : binary<float, F>;
}

}  // namespace qkv::ptx
