// SPDX-License-Identifier: BSL-1.0
// mov, also between one register and several; selp.
#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/lanes.hpp"

namespace qkv::ptx {
namespace {

template <class T>
void move(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<T>(w, i);
  const auto *a = src<T>(w, i, 0);
  for_lanes(m, [&](int l) { d[l] = a[l]; });
}
// Between one register of i.a bytes and several of i.b bytes.
void pack(warp &w, const instruction &i, lane_mask m) {
  for_lanes(m, [&](int l) {
    std::uint64_t v = 0;
    for (int n = 0; n < i.sources; ++n) {
      const std::int32_t s = slot_of(w, i, i.destinations + n);
      const std::uint64_t x = i.b == 8 ? reg<std::uint64_t>(w, s)[l] : reg<std::uint32_t>(w, s)[l];
      v |= (i.b < 8 ? x & ((1ull << (8 * i.b)) - 1) : x) << (8 * i.b * static_cast<unsigned>(n));
    }
    if (i.a == 8)
      dst<std::uint64_t>(w, i)[l] = v;
    else
      dst<std::uint32_t>(w, i)[l] = static_cast<std::uint32_t>(v);
  });
}
void unpack(warp &w, const instruction &i, lane_mask m) {
  for_lanes(m, [&](int l) {
    const std::uint64_t v =
        i.a == 8 ? src<std::uint64_t>(w, i, 0)[l] : src<std::uint32_t>(w, i, 0)[l];
    for (int n = 0; n < i.destinations; ++n) {
      if (slot_of(w, i, n) < 0) continue;  // _
      const std::uint64_t x = v >> (8 * i.b * static_cast<unsigned>(n));
      reg<std::uint32_t>(w, slot_of(w, i, n))[l] =
          static_cast<std::uint32_t>(i.b == 4 ? x & 0xffffffff : x & ((1ull << (8 * i.b)) - 1));
    }
  });
}
// The usual pairs: one register of 64 bits, two of 32.
void pack_two(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<std::uint64_t>(w, i);
  const auto *a = src<std::uint32_t>(w, i, 0), *b = src<std::uint32_t>(w, i, 1);
  for_lanes(m, [&](int l) { d[l] = static_cast<std::uint64_t>(b[l]) << 32 | a[l]; });
}
void unpack_two(warp &w, const instruction &i, lane_mask m) {
  auto *a = dst<std::uint32_t>(w, i, 0), *b = dst<std::uint32_t>(w, i, 1);
  const auto *s = src<std::uint64_t>(w, i, 0);
  for_lanes(m, [&](int l) {
    a[l] = static_cast<std::uint32_t>(s[l]);
    b[l] = static_cast<std::uint32_t>(s[l] >> 32);
  });
}
template <class T>
void select(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<T>(w, i);
  const auto *a = src<T>(w, i, 0), *b = src<T>(w, i, 1);
  const auto *p = src<std::uint32_t>(w, i, 2);
  for_lanes(m, [&](int l) { d[l] = p[l] ? a[l] : b[l]; });
}

}  // namespace

bool decode_move(decoder &d, const statement &s, instruction &i) {
  const type t = last_type(s);
  if (s.op == "selp") {
    d.destinations(i, s.operands[0], t);
    d.sources(i, s.operands[1], t);
    d.sources(i, s.operands[2], t);
    d.sources(i, s.operands[3], type::pred);
    i.run = size_of(t) == 8 ? select<std::uint64_t> : select<std::uint32_t>;
    return true;
  }
  if (s.op != "mov") return false;
  if (s.operands[0].kind == operand::list) {
    d.destinations(i, s.operands[0], type::b32);
    d.sources(i, s.operands[1], t);
    i.a = static_cast<std::uint32_t>(size_of(t));
    i.b = i.a / static_cast<std::uint32_t>(s.operands[0].items.size());
    i.run = i.a == 8 && i.b == 4 && d.k.slots[i.first] >= 0 && d.k.slots[i.first + 1] >= 0
                ? unpack_two
                : unpack;
    return true;
  }
  d.destinations(i, s.operands[0], t);
  if (s.operands[1].kind == operand::list) {
    const auto part = static_cast<std::uint32_t>(size_of(t)) /
                      static_cast<std::uint32_t>(s.operands[1].items.size());
    for (const operand &o : s.operands[1].items)
      d.sources(i, o, part == 2 ? type::b16 : part == 1 ? type::b8 : type::b32);
    i.a = static_cast<std::uint32_t>(size_of(t)), i.b = part;
    i.run = i.a == 8 && part == 4 ? pack_two : pack;
    return true;
  }
  d.sources(i, s.operands[1], t);
  i.run = size_of(t) == 8 ? move<std::uint64_t> : move<std::uint32_t>;
  return true;
}

}  // namespace qkv::ptx
