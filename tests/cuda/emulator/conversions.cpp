// SPDX-License-Identifier: BSL-1.0
// cvt: between integers and floating-point numbers of all widths.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/operations.hpp"

namespace qkv::ptx {
namespace {

enum class way { nearest, zero, to_int_nearest, to_int_zero, to_int_down, to_int_up };

double whole(double x, way r) {
  switch (r) {
    case way::to_int_nearest:
      return std::nearbyint(x);
    case way::to_int_zero:
      return std::trunc(x);
    case way::to_int_down:
      return std::floor(x);
    case way::to_int_up:
      return std::ceil(x);
    default:
      return x;
  }
}
template <class D, way R>
void float_to_int(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<D>(w, i);
  const auto *a = src<float>(w, i, 0);
  for_lanes(m, [&](int l) {
    const double x = whole(get<float>(a, l), R);
    constexpr double low = static_cast<double>(std::numeric_limits<D>::min()),
                     high = static_cast<double>(std::numeric_limits<D>::max());
    put<D>(d, l,
           x != x      ? D(0)
           : x <= low  ? std::numeric_limits<D>::min()
           : x >= high ? std::numeric_limits<D>::max()
                       : static_cast<D>(x));
  });
}
template <class D>
void int_to_float(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<float>(w, i);
  const auto *a = src<D>(w, i, 0);
  for_lanes(m, [&](int l) { put<float>(d, l, static_cast<float>(get<D>(a, l))); });
}

struct value {  // of any type
  bool floating;
  double f;
  std::int64_t s;
  bool is_signed;
};
value read(warp &w, std::int32_t slot, type t, int l) {
  const std::uint64_t bits =
      size_of(t) == 8 ? reg<std::uint64_t>(w, slot)[l] : reg<std::uint32_t>(w, slot)[l];
  const auto of_float = [](double x) { return value{true, x, 0, true}; };
  const auto of_int = [](std::int64_t x, bool s) { return value{false, 0, x, s}; };
  switch (t) {
    case type::f16:
      return of_float(from_f16(static_cast<std::uint32_t>(bits)));
    case type::bf16:
      return of_float(from_bf16(static_cast<std::uint32_t>(bits & 0xffff)));
    case type::f32:
      return of_float(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case type::f64:
      return of_float(std::bit_cast<double>(bits));
    case type::s8:
      return of_int(static_cast<std::int8_t>(bits), true);
    case type::s16:
      return of_int(static_cast<std::int16_t>(bits), true);
    case type::s32:
      return of_int(static_cast<std::int32_t>(bits), true);
    case type::s64:
      return of_int(static_cast<std::int64_t>(bits), true);
    case type::u8:
    case type::b8:
      return of_int(static_cast<std::uint8_t>(bits), false);
    case type::u16:
    case type::b16:
      return of_int(static_cast<std::uint16_t>(bits), false);
    case type::u32:
    case type::b32:
      return of_int(static_cast<std::uint32_t>(bits), false);
    default:
      return of_int(static_cast<std::int64_t>(bits), false);
  }
}
float to_f32(double x, bool to_zero) {
  const auto f = static_cast<float>(x);
  if (!to_zero || std::isnan(x) || std::fabs(static_cast<double>(f)) <= std::fabs(x)) return f;
  return std::nextafter(f, 0.f);
}
std::uint64_t write(const value &v, type t, way r, bool saturate, bool relu) {
  double x = v.floating    ? whole(v.f, r)
             : v.is_signed ? static_cast<double>(v.s)
                           : static_cast<double>(static_cast<std::uint64_t>(v.s));
  switch (t) {
    case type::f16:
    case type::bf16:
    case type::f32:
    case type::f64:
    case type::tf32:
      if (saturate) x = x > 1 ? 1 : x > 0 ? x : 0;
      if (relu) x = x > 0 ? x : 0;
      break;
    default:
      break;
  }
  switch (t) {
    case type::f16:
      return narrow(x, 5, 10, r == way::zero);
    case type::bf16:
      return narrow(x, 8, 7, r == way::zero);
    case type::tf32:
      return narrow(x, 8, 10, r == way::zero) << 13;
    case type::f32:
      if (!v.floating && r != way::zero)
        return std::bit_cast<std::uint32_t>(
            v.is_signed ? static_cast<float>(v.s)
                        : static_cast<float>(static_cast<std::uint64_t>(v.s)));
      return std::bit_cast<std::uint32_t>(to_f32(x, r == way::zero));
    case type::f64:
      return std::bit_cast<std::uint64_t>(x);
    default:
      break;
  }
  const bool to_signed = t == type::s8 || t == type::s16 || t == type::s32 || t == type::s64;
  const int bits = 8 * size_of(t);
  if (v.floating) {
    const double low = to_signed ? -std::ldexp(1.0, bits - 1) : 0,
                 high = std::ldexp(1.0, to_signed ? bits - 1 : bits);
    if (std::isnan(x)) return 0;
    if (x < low) x = low;
    if (x >= high)
      return to_signed ? (1ull << (bits - 1)) - 1 : bits == 64 ? ~0ull : (1ull << bits) - 1;
    return to_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(x))
                     : static_cast<std::uint64_t>(x);
  }
  std::int64_t n = v.s;
  if (saturate && bits < 64) {
    const std::int64_t low = to_signed ? -(1ll << (bits - 1)) : 0,
                       high = to_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1;
    n = std::clamp(n, low, high);
  }
  return static_cast<std::uint64_t>(n);
}
std::uint64_t trimmed(std::uint64_t v, type t, bool wide) {
  // Results of 8 and 16 bits are extended into wider registers.
  switch (t) {
    case type::s8:
      v = static_cast<std::uint64_t>(static_cast<std::int8_t>(v));
      break;
    case type::s16:
      v = static_cast<std::uint64_t>(static_cast<std::int16_t>(v));
      break;
    case type::u8:
    case type::b8:
      v &= 0xff;
      break;
    case type::u16:
    case type::b16:
    case type::f16:
    case type::bf16:
      v &= 0xffff;
      break;
    default:
      break;
  }
  return wide ? v : v & 0xffffffff;
}
// i.a, i.b: types to and from; i.c: way; i.d: 1 saturate, 2 relu, 4 wide destination register
void convert(warp &w, const instruction &i, lane_mask m) {
  const std::int32_t to = slot_of(w, i, 0), from = slot_of(w, i, 1);
  for_lanes(m, [&](int l) {
    const std::uint64_t v =
        trimmed(write(read(w, from, static_cast<type>(i.b), l), static_cast<type>(i.a),
                      static_cast<way>(i.c), i.d & 1, i.d & 2),
                static_cast<type>(i.a), i.d & 4);
    if (i.d & 4)
      reg<std::uint64_t>(w, to)[l] = v;
    else
      reg<std::uint32_t>(w, to)[l] = static_cast<std::uint32_t>(v);
  });
}
// d = {a high, b low}
template <bool B16>
void convert_pair(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<std::uint32_t>(w, i);
  const auto *a = src<float>(w, i, 0), *b = src<float>(w, i, 1);
  const bool relu = i.d & 2, to_zero = static_cast<way>(i.c) == way::zero;
  for_lanes(m, [&](int l) {
    const auto one = [&](float x) -> std::uint32_t {
      if (relu && !(x > 0)) x = 0;
      if (to_zero) return B16 ? narrow(x, 8, 7, true) : narrow(x, 5, 10, true);
      return B16 ? to_bf16(x) : to_f16(static_cast<double>(x));
    };
    d[l] = one(get<float>(a, l)) << 16 | one(get<float>(b, l));
  });
}
template <class D, class S>
void resize(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<D>(w, i);
  const auto *s = src<S>(w, i, 0);
  for_lanes(m, [&](int l) { put<D>(d, l, static_cast<D>(get<S>(s, l))); });
}

}  // namespace

bool decode_conversion(decoder &d, const statement &s, instruction &i) {
  if (s.op != "cvt") return false;
  const auto t = types_of(s);
  way r = way::nearest;
  for (const auto &x : s.modifiers) {
    if (x == "rz") r = way::zero;
    if (x == "rni") r = way::to_int_nearest;
    if (x == "rzi") r = way::to_int_zero;
    if (x == "rmi") r = way::to_int_down;
    if (x == "rpi") r = way::to_int_up;
    if (x == "rm" || x == "rp" || x == "rs") d.refuse(s, "rounding is not supported");
  }
  i.what = kind::convert;
  i.c = static_cast<std::uint32_t>(r);
  i.d = (s.has("sat") ? 1u : 0) | (s.has("relu") ? 2u : 0);
  if (t.size() == 2 && (t[0] == type::f16x2 || t[0] == type::bf16x2)) {
    d.destinations(i, s.operands[0], type::b32);
    d.sources(i, s.operands[1], type::f32);
    d.sources(i, s.operands[2], type::f32);
    i.run = t[0] == type::bf16x2 ? convert_pair<true> : convert_pair<false>;
    return true;
  }
  if (t.size() < 2) {
    if (t.size() == 1 && s.has("tf32")) d.refuse(s, "not supported");
    d.refuse(s, "two types expected");
  }
  d.destinations(i, s.operands[0], t[0]);
  d.sources(i, s.operands[1], t[1]);
  i.a = static_cast<std::uint32_t>(t[0]), i.b = static_cast<std::uint32_t>(t[1]);
  if (d.is_wide(d.slot(s.operands[0], t[0]))) i.d |= 4;
  i.run = convert;
  if (i.d == 0 && t[1] == type::f32 && t[0] == type::s32) {
    if (r == way::to_int_zero) i.run = float_to_int<std::int32_t, way::to_int_zero>;
    if (r == way::to_int_nearest) i.run = float_to_int<std::int32_t, way::to_int_nearest>;
  }
  if (i.d == 0 && t[0] == type::f32 && t[1] == type::s32 && r == way::nearest)
    i.run = int_to_float<std::int32_t>;
  if (i.d == 4 && t[0] == type::u64 && t[1] == type::u32)
    i.run = resize<std::uint64_t, std::uint32_t>;
  if (i.d == 4 && t[0] == type::s64 && t[1] == type::s32)
    i.run = resize<std::int64_t, std::int32_t>;
  if (i.d == 0 && t[0] == type::u32 && t[1] == type::u64)
    i.run = resize<std::uint32_t, std::uint64_t>;
  return true;
}

}  // namespace qkv::ptx
