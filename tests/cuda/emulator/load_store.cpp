// SPDX-License-Identifier: BSL-1.0
// Loads and stores of one register or a vector of them.
#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/memory.hpp"

namespace qkv::ptx {
namespace {

// i.a: bytes of one element; i.b: elements; i.c: space; i.d: bit 0: the base is wide, bit 1: sign
// extension, bit 8: the registers of elements are wide
template <int Bytes>
void load(warp &w, const instruction &i, lane_mask m) {
  const int n = static_cast<int>(i.b);
  const std::int32_t *slots = &w.in->k->slots[i.first];
  std::uint64_t address[lanes_of_warp];
  for (lane_mask left = m; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    address[l] = address_of_lane(w, i, l, 0);
    const std::uint8_t *from =
        place(w, static_cast<space>(i.c), address[l], Bytes * n, l, access::read);
    if constexpr (Bytes == 4)
      if (!(i.d & 256)) {
        for (int e = 0; e < n; ++e)
          if (slots[e] >= 0) std::memcpy(reg<std::uint32_t>(w, slots[e]) + l, from + e * 4, 4);
        continue;
      }
    for (int e = 0; e < n; ++e) {
      std::uint64_t v = 0;
      std::memcpy(&v, from + e * Bytes, Bytes);
      if (i.d & 2)
        v = Bytes == 1   ? static_cast<std::uint64_t>(static_cast<std::int8_t>(v))
            : Bytes == 2 ? static_cast<std::uint64_t>(static_cast<std::int16_t>(v))
            : Bytes == 4 ? static_cast<std::uint64_t>(static_cast<std::int32_t>(v))
                         : v;
      const std::int32_t s = slot_of(w, i, e);
      if (s < 0) continue;
      if (i.d & 256)
        reg<std::uint64_t>(w, s)[l] = v;
      else
        reg<std::uint32_t>(w, s)[l] = static_cast<std::uint32_t>(v);
    }
  }
  if (w.in->how->profile) {
    if (static_cast<space>(i.c) == space::shared)
      profile_shared(w, i, address, m, Bytes * n);
    else if (static_cast<space>(i.c) != space::param)
      profile_global(w, i, address, m, Bytes * n);
  }
}
template <int Bytes>
void store(warp &w, const instruction &i, lane_mask m) {
  const int n = static_cast<int>(i.b);
  std::uint64_t address[lanes_of_warp];
  for (lane_mask left = m; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    address[l] = address_of_lane(w, i, l, 0);
    std::uint8_t *to = place(w, static_cast<space>(i.c), address[l], Bytes * n, l, access::write);
    for (int e = 0; e < n; ++e) {
      const std::int32_t s = slot_of(w, i, 1 + e);
      const std::uint64_t v = i.d & 256 ? reg<std::uint64_t>(w, s)[l] : reg<std::uint32_t>(w, s)[l];
      std::memcpy(to + e * Bytes, &v, Bytes);
    }
  }
  if (w.in->how->profile) {
    if (static_cast<space>(i.c) == space::shared)
      profile_shared(w, i, address, m, Bytes * n);
    else
      profile_global(w, i, address, m, Bytes * n);
  }
}

}  // namespace

// The address of a parameter is a constant: its offset.
bool decode_load_store(decoder &d, const statement &s, instruction &i) {
  if (s.op == "prefetch" || s.op == "prefetchu" || s.op == "discard" || s.op == "applypriority") {
    i.run = nothing;
    return true;
  }
  if (s.op != "ld" && s.op != "ldu" && s.op != "st") return false;
  const bool is_load = s.op == "ld" || s.op == "ldu";
  const type t = last_type(s);
  const space where = space_of(s);
  const operand &value = s.operands[is_load ? 0 : 1], &at = s.operands[is_load ? 1 : 0];
  i.a = static_cast<std::uint32_t>(size_of(t));
  i.b = value.kind == operand::list ? static_cast<std::uint32_t>(value.items.size()) : 1;
  i.c = static_cast<std::uint32_t>(where);
  i.what = where == space::shared  ? (is_load ? kind::shared_load : kind::shared_store)
           : where == space::param ? kind::other
           : is_load               ? kind::load
                                   : kind::store;
  operand base = at;
  if (where == space::param) {
    for (const variable &p : d.k.params)
      if (p.name == at.name) base.name.clear(), base.offset += p.offset;
    if (!base.name.empty() && d.type_of(base) == type::none) d.refuse(s, "parameter is not known");
  }
  std::uint32_t flags = t == type::s8 || t == type::s16 || t == type::s32 ? 2 : 0;
  if (is_load) {
    d.destinations(i, value, t);
    if (d.k.slots[i.first] >= 0 && d.is_wide(d.k.slots[i.first])) flags |= 256;
    d.address(i, base);
  } else {
    d.address(i, base);
    const auto first = d.k.slots.size();
    d.sources(i, value, t);
    if (d.is_wide(d.k.slots[first])) flags |= 256;
  }
  i.d |= flags;
  switch (i.a) {
    case 1:
      i.run = is_load ? load<1> : store<1>;
      break;
    case 2:
      i.run = is_load ? load<2> : store<2>;
      break;
    case 4:
      i.run = is_load ? load<4> : store<4>;
      break;
    case 8:
      i.run = is_load ? load<8> : store<8>;
      break;
    default:
      d.refuse(s, "not supported");
  }
  return true;
}

}  // namespace qkv::ptx
