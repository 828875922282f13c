// SPDX-License-Identifier: BSL-1.0
// cp.async.bulk.tensor: tiles between global and shared memory, described by tensor maps.
#include <cstring>

#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/mbarriers.hpp"
#include "tests/cuda/emulator/memory.hpp"
#include "tests/cuda/emulator/tensor_map.hpp"

namespace qkv::ptx {
namespace {

struct box {
  tensor_map map;
  std::int32_t at[5];
  std::uint32_t shared;  // address
};
// Calls f(shared address, pointer into global memory or null, bytes) for each element of the box.
template <class F>
void for_box(const box &x, F f) {
  const tensor_map &t = x.map;
  std::uint64_t n = 1;
  for (int d = 0; d < t.rank; ++d) n *= t.box[d];
  for (std::uint64_t k = 0; k < n; ++k) {
    std::uint64_t left = k, address = t.address;
    bool inside = true;
    for (int d = 0; d < t.rank; ++d) {
      const std::int64_t c = x.at[d] + static_cast<std::int64_t>(left % t.box[d]);
      left /= t.box[d];
      inside = inside && c >= 0 && static_cast<std::uint64_t>(c) < t.size[d];
      address += static_cast<std::uint64_t>(c) * t.stride[d];
    }
    f(swizzled(x.shared + static_cast<std::uint32_t>(k * t.element), t.swizzle),
      inside ? address : 0, t.element);
  }
}
box read_box(warp &w, const instruction &i, int lane, int first_coordinate,
             std::uint64_t map_address, std::uint64_t shared) {
  box x;
  const auto params = reinterpret_cast<std::uint64_t>(w.in->params);
  if (!(map_address >= params && map_address < params + most_parameter_bytes) &&
      !w.in->memory->holds(map_address, 128))
    throw error("a tensor map lies in parameters (__grid_constant__) or in global memory");
  if (map_address % 64) throw error("a tensor map is aligned to 64 bytes");
  std::memcpy(&x.map, reinterpret_cast<const void *>(map_address), sizeof(tensor_map));
  if (x.map.mark != tensor_map_mark) throw error("this is not a tensor map");
  if (static_cast<std::uint32_t>(x.map.rank) != i.a) throw error("the tensor map has another rank");
  for (std::uint32_t d = 0; d < i.a; ++d)
    x.at[d] = static_cast<std::int32_t>(
        src<std::uint32_t>(w, i, first_coordinate + static_cast<int>(d))[lane]);
  x.shared = static_cast<std::uint32_t>(shared);
  if (shared % (x.map.swizzle ? 128u << (x.map.swizzle - 1) : 128u))
    throw error("the copy engine's shared address is not aligned for its swizzle");
  return x;
}

// i.a: rank; sources: shared address, map, coordinates..., mbarrier; offsets: i.imm, -, i.c
void engine_load(warp &w, const instruction &i, lane_mask m) {
  block &b = *w.in;
  for (lane_mask left = m; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    const box x = read_box(w, i, l, 2, src<std::uint64_t>(w, i, 1)[l], address_of_lane(w, i, l, 0));
    const std::int32_t bar_slot = slot_of(w, i, i.destinations + 2 + static_cast<int>(i.a));
    const std::uint64_t bar =
        (i.d & 2 ? reg<std::uint64_t>(w, bar_slot)[l] : reg<std::uint32_t>(w, bar_slot)[l]) + i.c;
    barrier_at(b, bar);
    // The copy may overwrite what the issuing warp has seen, and nothing else.
    const clocks issued = w.seen;
    b.engine.push_back([&b, x, bar, issued] {
      std::uint64_t bytes = 0;
      for_box(x, [&](std::uint32_t to, std::uint64_t from, unsigned n) {
        if (to < b.shared_base || to - b.shared_base + n > b.shared_size)
          throw error("the copy engine writes outside of shared memory");
        const std::uint32_t offset = to - b.shared_base;
        if (b.how->races) {
          const last_write &s = b.writes[offset / 4];
          if (s.clock > issued[s.warp])
            throw error("race in shared memory at byte " + std::to_string(offset) +
                        ": the copy engine overwrites what warp " + std::to_string(s.warp) +
                        " wrote");
          for (std::size_t other = 0; other < b.warps.size(); ++other)
            if (b.reads[offset / 4 * b.warps.size() + other].clock > issued[other])
              throw error("race in shared memory at byte " + std::to_string(offset) +
                          ": the copy engine overwrites what warp " + std::to_string(other) +
                          " reads");
          b.writes[offset / 4] = {0, 0, 0, true};
        }
        if (from) {
          if (!b.memory->holds(from, n))
            throw error("the copy engine reads global memory " + b.memory->nearest(from));
          std::memcpy(b.shared + offset, reinterpret_cast<const void *>(from), n);
        } else {
          std::memset(b.shared + offset, 0, n);
        }
        bytes += n;
      });
      mbarrier &bar_now = barrier_at(b, bar);
      bar_now.bytes -= static_cast<std::int64_t>(bytes);
      bar_now.arriving.resize(b.warps.size());
      join(bar_now.arriving, issued);
      complete_if_all(b, bar_now);
    });
    if (b.how->profile) {
      std::uint64_t bytes = x.map.element;
      for (int d = 0; d < x.map.rank; ++d) bytes *= x.map.box[d];
      b.stats->global_bytes += bytes, b.stats->global_sectors += bytes / 32,
          ++b.stats->global_requests;
    }
  }
}
// Stores are done at once: bulk waits order the reads of their source, where a late one would show.
void engine_store(warp &w, const instruction &i, lane_mask m) {
  block &b = *w.in;
  for (lane_mask left = m; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    const std::int32_t s = slot_of(w, i, i.destinations + 1 + static_cast<int>(i.a));
    const std::uint64_t from =
        (i.d & 2 ? reg<std::uint64_t>(w, s)[l] : reg<std::uint32_t>(w, s)[l]) + i.c;
    const box x = read_box(w, i, l, 1, src<std::uint64_t>(w, i, 0)[l], from);
    for_box(x, [&](std::uint32_t at, std::uint64_t to, unsigned n) {
      const std::uint8_t *p = shared_at(w, at, static_cast<int>(n), access::read);
      if (!to) return;
      if (!b.memory->holds(to, n))
        throw error("the copy engine writes global memory " + b.memory->nearest(to));
      std::memcpy(reinterpret_cast<void *>(to), p, n);
    });
  }
}

}  // namespace

bool decode_copy_engine(decoder &d, const statement &s, instruction &i) {
  if (s.op != "cp" || !s.has("bulk")) return false;
  i.what = kind::async;
  if (s.has("commit_group") || s.has("wait_group") || s.has("prefetch")) {
    i.run = nothing;
    return true;
  }
  if (!s.has("tensor")) d.refuse(s, "only tensors");
  for (std::uint32_t r = 1; r <= 5; ++r)
    if (s.has(std::to_string(r) + "d")) i.a = r;
  const bool is_load = !s.has("bulk_group");
  const operand &map = s.operands[is_load ? 1 : 0], &memory = s.operands[is_load ? 0 : 1];
  operand base;
  base.kind = operand::reg;
  std::uint32_t wide = 0;
  const auto add_base = [&](const operand &o, type t) {
    base.name = o.name;
    base.kind = d.type_of(base) == type::none ? operand::symbol : operand::reg;
    d.sources(i, base, t);
    return d.is_wide(d.k.slots.back());
  };
  if (is_load) {
    d.address(i, memory);
    wide = i.d;
    if (map.offset) d.refuse(s, "an offset of the map");
    add_base(map, type::u64);
    d.sources(i, map.items[0], type::u32);
    if (add_base(s.operands[2], type::u32)) wide |= 2;
    i.c = static_cast<std::uint32_t>(s.operands[2].offset);
    i.d = wide;
    i.run = engine_load;
  } else {
    add_base(map, type::u64);
    d.sources(i, map.items[0], type::u32);
    if (add_base(memory, type::u32)) wide |= 2;
    i.c = static_cast<std::uint32_t>(memory.offset);
    i.d = wide;
    i.run = engine_store;
  }
  return true;
}

}  // namespace qkv::ptx
