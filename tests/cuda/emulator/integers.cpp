// SPDX-License-Identifier: BSL-1.0
// Arithmetic on integers: sums with carries, products of all widths, quotients.
#include <type_traits>

#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/operations.hpp"

namespace qkv::ptx {
namespace {

template <class T>
T high(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    using wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<wide>(a) * b) >> 64);
  } else {
    using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>((static_cast<wide>(a) * static_cast<wide>(b)) >> (8 * sizeof(T)));
  }
}
template <class T, class W, bool Add>
void wide_product(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<W>(w, i);
  const auto *a = src<T>(w, i, 0), *b = src<T>(w, i, 1);
  using U = std::make_unsigned_t<W>;
  if constexpr (Add) {
    const auto *c = src<W>(w, i, 2);
    for_lanes(m, [&](int l) {
      put<W>(d, l,
             static_cast<W>(
                 static_cast<U>(static_cast<W>(get<T>(a, l)) * static_cast<W>(get<T>(b, l))) +
                 static_cast<U>(get<W>(c, l))));
    });
  } else {
    for_lanes(m, [&](int l) {
      put<W>(d, l, static_cast<W>(get<T>(a, l)) * static_cast<W>(get<T>(b, l)));
    });
  }
}
template <bool Add>
handler wide_product_of(type t) {
  switch (t) {
    case type::u16:
      return wide_product<std::uint16_t, std::uint32_t, Add>;
    case type::s16:
      return wide_product<std::int16_t, std::int32_t, Add>;
    case type::u32:
      return wide_product<std::uint32_t, std::uint64_t, Add>;
    case type::s32:
      return wide_product<std::int32_t, std::int64_t, Add>;
    default:
      return nullptr;
  }
}
// Sums of 32 bits. i.a: with the carry; i.b: sets the carry; i.c: 0 add, 1 sub, 2 mad.lo, 3 mad.hi
void with_carry(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<std::uint32_t>(w, i);
  const auto *a = src<std::uint32_t>(w, i, 0), *b = src<std::uint32_t>(w, i, 1);
  const auto *c = i.c >= 2 ? src<std::uint32_t>(w, i, 2) : nullptr;
  for_lanes(m, [&](int l) {
    std::uint64_t x = a[l], y = b[l];
    if (i.c == 2) x = (x * y) & 0xffffffff, y = c[l];
    if (i.c == 3) x = (x * y) >> 32, y = c[l];
    const std::uint64_t r =
        i.c == 1 ? x - y - (i.a ? w.carry[l] : 0) : x + y + (i.a ? w.carry[l] : 0);
    d[l] = static_cast<std::uint32_t>(r);
    if (i.b) w.carry[l] = static_cast<std::uint32_t>(r >> 32) & 1;
  });
}

}  // namespace

bool decode_integer(decoder &d, const statement &s, instruction &i) {
  const std::string &op = s.op;
  const type t = last_type(s);
  if (is_float(t) || is_half(t)) return false;
  const bool carry_out = s.has("cc");
  if (op == "addc" || op == "subc" || op == "madc" || carry_out) {
    if (size_of(t) != 4) d.refuse(s, "carries of 32 bits only");
    d.plain(i, s, t);
    i.a = op.back() == 'c';
    i.b = carry_out;
    i.c = op[0] == 'a' ? 0 : op[0] == 's' ? 1 : s.has("lo") ? 2 : 3;
    if (i.c == 3 && t == type::s32) d.refuse(s, "not supported");
    i.run = with_carry;
    return true;
  }
  if (op == "add" || op == "sub") {
    d.plain(i, s, t);
    if (s.has("sat")) d.refuse(s, "not supported");
    i.run = op == "add" ? binary_unsigned<[](auto a, auto b) { return a + b; }>(t)
                        : binary_unsigned<[](auto a, auto b) { return a - b; }>(t);
    return true;
  }
  if (op == "mul" || op == "mad") {
    const bool add = op == "mad";
    if (s.has("wide")) {
      const type wide = t == type::u16   ? type::u32
                        : t == type::s16 ? type::s32
                        : t == type::u32 ? type::u64
                                         : type::s64;
      d.destinations(i, s.operands[0], wide);
      d.sources(i, s.operands[1], t);
      d.sources(i, s.operands[2], t);
      if (add) d.sources(i, s.operands[3], wide);
      i.run = add ? wide_product_of<true>(t) : wide_product_of<false>(t);
      return i.run != nullptr;
    }
    d.plain(i, s, t);
    if (s.has("hi")) {
      constexpr auto hi = [](auto a, auto b) { return high(a, b); };
      constexpr auto mad = [](auto a, auto b, auto c) {
        return static_cast<decltype(a)>(high(a, b) + c);
      };
      switch (t) {
        case type::u32:
          i.run = add ? ternary<std::uint32_t, mad> : binary<std::uint32_t, hi>;
          break;
        case type::s32:
          i.run = add ? ternary<std::int32_t, mad> : binary<std::int32_t, hi>;
          break;
        case type::u64:
          i.run = add ? ternary<std::uint64_t, mad> : binary<std::uint64_t, hi>;
          break;
        case type::s64:
          i.run = add ? ternary<std::int64_t, mad> : binary<std::int64_t, hi>;
          break;
        case type::u16:
          i.run = binary<std::uint16_t, hi>;
          break;
        case type::s16:
          i.run = binary<std::int16_t, hi>;
          break;
        default:
          break;
      }
      return i.run != nullptr;
    }
    switch (size_of(t)) {
      case 2:
        i.run = add ? ternary<std::uint16_t, [](auto a, auto b, auto c) { return a * b + c; }>
                    : binary<std::uint16_t,
                             [](auto a, auto b) { return static_cast<unsigned>(a) * b; }>;
        break;
      case 4:
        i.run = add ? ternary<std::uint32_t, [](auto a, auto b, auto c) { return a * b + c; }>
                    : binary<std::uint32_t, [](auto a, auto b) { return a * b; }>;
        break;
      case 8:
        i.run = add ? ternary<std::uint64_t, [](auto a, auto b, auto c) { return a * b + c; }>
                    : binary<std::uint64_t, [](auto a, auto b) { return a * b; }>;
        break;
    }
    return i.run != nullptr;
  }
  if (op == "div" || op == "rem") {
    d.plain(i, s, t);
    constexpr auto quotient = [](auto a, auto b) {
      using T = decltype(a);
      if (b == 0) return static_cast<T>(~T(0));
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
      return static_cast<T>(a / b);
    };
    constexpr auto rest = [](auto a, auto b) {
      using T = decltype(a);
      if (b == 0) return a;
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return T(0);
      return static_cast<T>(a % b);
    };
    i.run = op == "div" ? binary_int<quotient>(t) : binary_int<rest>(t);
    return true;
  }
  if (op == "min" || op == "max") {
    d.plain(i, s, t);
    i.run = op == "min" ? binary_int<[](auto a, auto b) { return a < b ? a : b; }>(t)
                        : binary_int<[](auto a, auto b) { return (a > b) ? a : b; }>(t);
    return true;
  }
  if (op == "neg" || op == "abs") {
    d.plain(i, s, t);
    i.run = op == "neg" ? unary_int<[](auto a) {
      return 0 - static_cast<std::make_unsigned_t<decltype(a)>>(a);
    }>(t)
                        : unary_int<[](auto a) {
                            return a < 0 ? 0 - static_cast<std::make_unsigned_t<decltype(a)>>(a)
                                         : static_cast<std::make_unsigned_t<decltype(a)>>(a);
                          }>(t);
    return true;
  }
  return false;
}

}  // namespace qkv::ptx
