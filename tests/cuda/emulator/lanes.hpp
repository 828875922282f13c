// SPDX-License-Identifier: BSL-1.0
#pragma once
// How handlers read and write registers: an array over the lanes for each slot.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/cuda/emulator/block.hpp"

namespace qkv::ptx {

template <class T>
using stored = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
stored<T> *reg(warp &w, std::int32_t slot) {
  return reinterpret_cast<stored<T> *>(w.regs + slot);
}

template <class T>
T get(const stored<T> *p, int lane) {
  if constexpr (sizeof(T) >= 4) {
    T v;
    std::memcpy(&v, p + lane, sizeof(T));
    return v;
  } else {
    return static_cast<T>(p[lane]);
  }
}

template <class T>
void put(stored<T> *p, int lane, T v) {
  if constexpr (sizeof(T) >= 4)
    std::memcpy(p + lane, &v, sizeof(T));
  else if constexpr (sizeof(T) == 2)
    p[lane] = static_cast<std::uint16_t>(v);
  else
    p[lane] = static_cast<std::uint8_t>(v);
}

template <class F>
void for_lanes(lane_mask m, F f) {
  if (m == all_lanes) {
#pragma GCC ivdep
    for (int l = 0; l < lanes_of_warp; ++l) f(l);
  } else {
    for (lane_mask left = m; left; left &= left - 1) f(__builtin_ctz(left));
  }
}

inline std::int32_t slot_of(const warp &w, const instruction &i, int n) {
  return w.in->k->slots[i.first + static_cast<unsigned>(n)];
}
template <class T>
stored<T> *dst(warp &w, const instruction &i, int n = 0) {
  return reg<T>(w, slot_of(w, i, n));
}
template <class T>
const stored<T> *src(warp &w, const instruction &i, int n) {
  return reg<T>(w, slot_of(w, i, i.destinations + n));
}

inline void nothing(warp &, const instruction &, lane_mask) {}

}  // namespace qkv::ptx
