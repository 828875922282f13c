// SPDX-License-Identifier: BSL-1.0
// Addresses: of each lane, checked against what is allocated; between spaces (cvta).
#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/memory.hpp"

namespace qkv::ptx {
namespace {

// i.a: space; i.b: into that space; i.c: the result is wide; i.d: the source is wide

void convert_address(warp &w, const instruction &i, lane_mask m) {
  const block &b = *w.in;
  for_lanes(m, [&](int l) {
    std::uint64_t v = i.d ? src<std::uint64_t>(w, i, 0)[l] : src<std::uint32_t>(w, i, 0)[l];
    const auto where = static_cast<space>(i.a);
    std::uint64_t base = 0;
    if (where == space::shared) base = reinterpret_cast<std::uint64_t>(b.shared) - b.shared_base;
    if (where == space::param) base = reinterpret_cast<std::uint64_t>(b.params);
    if (where == space::local)
      base = reinterpret_cast<std::uint64_t>(w.local) +
             static_cast<std::uint64_t>(l * b.k->local_bytes);
    v = i.b ? v - base : v + base;
    if (i.c)
      dst<std::uint64_t>(w, i)[l] = v;
    else
      dst<std::uint32_t>(w, i)[l] = static_cast<std::uint32_t>(v);
  });
}

}  // namespace

std::uint8_t *shared_at(warp &w, std::uint64_t address, int bytes, access how, int lane) {
  block &b = *w.in;
  if (address < shared_of_system)
    throw error("shared memory: byte " + std::to_string(address) + " of the system's part");
  if (address - b.shared_base + static_cast<unsigned>(bytes) > b.shared_size)
    throw error("shared memory: byte " +
                std::to_string(static_cast<std::int64_t>(address) - b.shared_base) + " + " +
                std::to_string(bytes) + " of " + std::to_string(b.shared_size));
  const auto offset = static_cast<std::uint32_t>(address - b.shared_base);
  if (b.how->races) {
    if (how == access::write)
      note_write(w, lane, offset, bytes);
    else if (how == access::read)
      note_read(w, lane, offset, bytes);
  }
  return b.shared + offset;
}

std::uint64_t address_of_lane(warp &w, const instruction &i, int lane, int source) {
  const std::int32_t s = slot_of(w, i, i.destinations + source);
  const std::uint64_t base =
      i.d & 1 ? reg<std::uint64_t>(w, s)[lane] : reg<std::uint32_t>(w, s)[lane];
  return i.d & 1 ? base + static_cast<std::uint64_t>(i.imm)
                 : (base + static_cast<std::uint64_t>(i.imm)) & 0xffffffff;
}

std::uint8_t *place(warp &w, space where, std::uint64_t address, int bytes, int lane, access how) {
  block &b = *w.in;
  if (address % static_cast<unsigned>(bytes & -bytes) != 0 && (bytes & (bytes - 1)) == 0)
    throw error("lane " + std::to_string(lane) + ": address not aligned to " +
                std::to_string(bytes) + " bytes");
  switch (where) {
    case space::shared:
      return shared_at(w, address, bytes, how, lane);
    case space::param:
      if (address + static_cast<unsigned>(bytes) > most_parameter_bytes)
        throw error("outside of the parameters");
      return b.params + address;
    case space::constant:
      return reinterpret_cast<std::uint8_t *>(address);
    case space::local:
      if (address + static_cast<unsigned>(bytes) > static_cast<std::uint64_t>(b.k->local_bytes))
        throw error("lane " + std::to_string(lane) + ": outside of its stack");
      return w.local + lane * b.k->local_bytes + address;
    default:
      break;
  }
  const auto shared_from = reinterpret_cast<std::uint64_t>(b.shared);
  if (where == space::generic) {
    if (address >= shared_from && address < shared_from + b.shared_size)
      return shared_at(w, address - shared_from + b.shared_base, bytes, how, lane);
    const auto local_from = reinterpret_cast<std::uint64_t>(w.local);
    if (w.local && address >= local_from &&
        address < local_from + static_cast<std::uint64_t>(b.k->local_bytes) * lanes_of_warp)
      return reinterpret_cast<std::uint8_t *>(address);
    const auto params = reinterpret_cast<std::uint64_t>(b.params);
    if (address >= params && address < params + most_parameter_bytes)
      return reinterpret_cast<std::uint8_t *>(address);
  }
  if (!b.memory->holds(address, static_cast<unsigned>(bytes)))
    throw error("lane " + std::to_string(lane) +
                ": global memory: " + (how == access::read ? "reads " : "writes ") +
                std::to_string(bytes) + " bytes " + b.memory->nearest(address));
  return reinterpret_cast<std::uint8_t *>(address);
}

bool decode_address(decoder &d, const statement &s, instruction &i) {
  if (s.op != "cvta") return false;
  const type t = last_type(s);
  d.destinations(i, s.operands[0], t);
  d.sources(i, s.operands[1], t);
  i.what = kind::integer;
  i.a = static_cast<std::uint32_t>(space_of(s));
  i.b = s.has("to");
  i.c = d.is_wide(d.k.slots[i.first]), i.d = d.is_wide(d.k.slots[i.first + 1]);
  i.run = convert_address;
  return true;
}

}  // namespace qkv::ptx
