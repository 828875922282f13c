// SPDX-License-Identifier: BSL-1.0
// Operations on bits: logic, shifts, permutations, fields.
#include <algorithm>
#include <type_traits>

#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/operations.hpp"

namespace qkv::ptx {
namespace {

void permute(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<std::uint32_t>(w, i);
  const auto *a = src<std::uint32_t>(w, i, 0), *b = src<std::uint32_t>(w, i, 1),
             *c = src<std::uint32_t>(w, i, 2);
  for_lanes(m, [&](int l) {
    const std::uint64_t all = static_cast<std::uint64_t>(b[l]) << 32 | a[l];
    std::uint32_t r = 0;
    for (int k = 0; k < 4; ++k) {
      const std::uint32_t n = c[l] >> (4 * k);
      auto v = static_cast<std::uint8_t>(all >> (8 * (n & 7)));
      if (n & 8) v = v & 0x80 ? 0xff : 0;
      r |= static_cast<std::uint32_t>(v) << (8 * k);
    }
    d[l] = r;
  });
}
void logic3(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<std::uint32_t>(w, i);
  const auto *a = src<std::uint32_t>(w, i, 0), *b = src<std::uint32_t>(w, i, 1),
             *c = src<std::uint32_t>(w, i, 2);
  for_lanes(m, [&](int l) {
    std::uint32_t r = 0;
    for (unsigned k = 0; k < 8; ++k)
      if (i.imm >> k & 1)
        r |= (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) & (k & 1 ? c[l] : ~c[l]);
    d[l] = r;
  });
}
template <bool Left, bool Clamp>
void funnel(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<std::uint32_t>(w, i);
  const auto *a = src<std::uint32_t>(w, i, 0), *b = src<std::uint32_t>(w, i, 1),
             *c = src<std::uint32_t>(w, i, 2);
  for_lanes(m, [&](int l) {
    const std::uint32_t n = Clamp ? std::min(c[l], 32u) : c[l] & 31;
    const std::uint64_t all = static_cast<std::uint64_t>(b[l]) << 32 | a[l];
    d[l] = static_cast<std::uint32_t>(Left ? (all << n) >> 32 : all >> n);
  });
}
template <class T>
void extract(warp &w, const instruction &i, lane_mask m) {  // bfe
  auto *d = dst<T>(w, i);
  const auto *a = src<T>(w, i, 0);
  const auto *b = src<std::uint32_t>(w, i, 1), *c = src<std::uint32_t>(w, i, 2);
  constexpr unsigned bits = 8 * sizeof(T);
  for_lanes(m, [&](int l) {
    const unsigned at = b[l] & 0xff, n = std::min<unsigned>(c[l] & 0xff, bits);
    const auto x = static_cast<std::make_unsigned_t<T>>(get<T>(a, l));
    std::make_unsigned_t<T> r = at < bits ? x >> at : 0;
    const bool sign =
        std::is_signed_v<T> && n && (at + n - 1 < bits ? x >> (at + n - 1) & 1 : x >> (bits - 1));
    if (n < bits)
      r = n == 0 ? 0
          : sign ? r | (~std::make_unsigned_t<T>(0) << n)
                 : r & ((std::make_unsigned_t<T>(1) << n) - 1);
    put<T>(d, l, static_cast<T>(r));
  });
}
template <class T>
void insert(warp &w, const instruction &i, lane_mask m) {  // bfi
  auto *d = dst<T>(w, i);
  const auto *a = src<T>(w, i, 0), *b = src<T>(w, i, 1);
  const auto *c = src<std::uint32_t>(w, i, 2), *n = src<std::uint32_t>(w, i, 3);
  constexpr unsigned bits = 8 * sizeof(T);
  for_lanes(m, [&](int l) {
    const unsigned at = c[l] & 0xff,
                   len = std::min<unsigned>(n[l] & 0xff, bits - std::min(at, bits));
    const T ones =
        len >= bits ? ~T(0) : static_cast<T>(((T(1) << len) - 1) << (at < bits ? at : 0));
    put<T>(d, l,
           at >= bits || len == 0
               ? get<T>(b, l)
               : static_cast<T>((get<T>(b, l) & ~ones) | ((get<T>(a, l) << at) & ones)));
  });
}

}  // namespace

bool decode_bits(decoder &d, const statement &s, instruction &i) {
  const std::string &op = s.op;
  const type t = last_type(s);
  if (op == "and" || op == "or" || op == "xor") {
    d.plain(i, s, t);
    i.run = op == "and"  ? binary_int<[](auto a, auto b) { return a & b; }>(t)
            : op == "or" ? binary_int<[](auto a, auto b) { return a | b; }>(t)
                         : binary_int<[](auto a, auto b) { return a ^ b; }>(t);
    if (t == type::pred && (s.operands[1].negated || s.operands[2].negated))
      d.refuse(s, "negated operand");
    return true;
  }
  if (op == "not") {
    d.plain(i, s, t);
    i.run = t == type::pred ? unary<std::uint32_t, [](std::uint32_t a) { return a ^ 1; }>
                            : unary_int<[](auto a) { return ~a; }>(t);
    return true;
  }
  if (op == "shl" || op == "shr") {
    d.destinations(i, s.operands[0], t);
    d.sources(i, s.operands[1], t);
    d.sources(i, s.operands[2], type::u32);
    constexpr auto left = [](auto a, std::uint32_t n) {
      return n >= 8 * sizeof(a) ? decltype(a)(0) : static_cast<decltype(a)>(a << n);
    };
    constexpr auto right = [](auto a, std::uint32_t n) {
      if (n >= 8 * sizeof(a)) n = std::is_signed_v<decltype(a)> ? 8 * sizeof(a) - 1 : 8 * sizeof(a);
      return n >= 8 * sizeof(a) ? decltype(a)(0) : static_cast<decltype(a)>(a >> n);
    };
    switch (size_of(t)) {
      case 2:
        i.run = op == "shl"      ? shift<std::uint16_t, left>
                : t == type::s16 ? shift<std::int16_t, right>
                                 : shift<std::uint16_t, right>;
        break;
      case 4:
        i.run = op == "shl"      ? shift<std::uint32_t, left>
                : t == type::s32 ? shift<std::int32_t, right>
                                 : shift<std::uint32_t, right>;
        break;
      case 8:
        i.run = op == "shl"      ? shift<std::uint64_t, left>
                : t == type::s64 ? shift<std::int64_t, right>
                                 : shift<std::uint64_t, right>;
        break;
    }
    return i.run != nullptr;
  }
  if (op == "shf") {
    d.plain(i, s, type::b32);
    const bool clamp = s.has("clamp");
    i.run = s.has("l") ? (clamp ? funnel<true, true> : funnel<true, false>)
                       : (clamp ? funnel<false, true> : funnel<false, false>);
    return true;
  }
  if (op == "prmt") {
    if (s.modifiers.size() > 1) d.refuse(s, "mode is not supported");
    d.plain(i, s, type::b32);
    i.run = permute;
    return true;
  }
  if (op == "lop3") {
    d.destinations(i, s.operands[0], type::b32);
    for (int n = 1; n <= 3; ++n) d.sources(i, s.operands[static_cast<std::size_t>(n)], type::b32);
    i.imm = static_cast<std::int64_t>(s.operands[4].bits);
    i.run = logic3;
    return true;
  }
  if (op == "bfe") {
    d.destinations(i, s.operands[0], t);
    d.sources(i, s.operands[1], t);
    d.sources(i, s.operands[2], type::u32);
    d.sources(i, s.operands[3], type::u32);
    i.run = t == type::u32   ? extract<std::uint32_t>
            : t == type::s32 ? extract<std::int32_t>
            : t == type::u64 ? extract<std::uint64_t>
                             : extract<std::int64_t>;
    return true;
  }
  if (op == "bfi") {
    d.destinations(i, s.operands[0], t);
    d.sources(i, s.operands[1], t);
    d.sources(i, s.operands[2], t);
    d.sources(i, s.operands[3], type::u32);
    d.sources(i, s.operands[4], type::u32);
    i.run = size_of(t) == 8 ? insert<std::uint64_t> : insert<std::uint32_t>;
    return true;
  }
  if (op == "clz" || op == "popc" || op == "brev" || op == "bfind") {
    if (size_of(t) != 4 || op == "bfind") d.refuse(s, "32 bits only");
    d.plain(i, s, t);
    i.run = op == "clz"
                ? unary<std::uint32_t, [](std::uint32_t a) { return a ? __builtin_clz(a) : 32; }>
            : op == "popc"
                ? unary<std::uint32_t, [](std::uint32_t a) { return __builtin_popcount(a); }>
                : unary<std::uint32_t, [](std::uint32_t a) {
                    std::uint32_t r = 0;
                    for (int k = 0; k < 32; ++k) r |= (a >> k & 1) << (31 - k);
                    return r;
                  }>;
    return true;
  }
  return false;
}

}  // namespace qkv::ptx
