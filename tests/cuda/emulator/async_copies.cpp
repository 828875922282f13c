// SPDX-License-Identifier: BSL-1.0
// cp.async: copies into shared memory that are done as late as the program allows.
#include <algorithm>
#include <cstring>

#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/mbarriers.hpp"
#include "tests/cuda/emulator/memory.hpp"

namespace qkv::ptx {
namespace {

// i.a: bytes; i.b: the number of source bytes is an operand; i.c: offset of the source; i.d: bit 0:
// the base of the destination is wide

void copy_async(warp &w, const instruction &i, lane_mask m) {
  std::uint64_t from_address[lanes_of_warp], to_address[lanes_of_warp];
  const auto issued = w.in->how->races ? std::make_shared<const clocks>(w.seen) : nullptr;
  for (lane_mask left = m; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    to_address[l] = address_of_lane(w, i, l, 0);
    const std::uint64_t from =
        src<std::uint64_t>(w, i, 1)[l] + static_cast<std::uint64_t>(static_cast<std::int32_t>(i.c));
    from_address[l] = from;
    int bytes = static_cast<int>(i.a);
    if (i.b) bytes = std::min<int>(bytes, static_cast<int>(src<std::uint32_t>(w, i, 2)[l]));
    const auto all = static_cast<int>(i.a);
    if (to_address[l] % static_cast<unsigned>(all) || from % static_cast<unsigned>(all))
      throw error("lane " + std::to_string(l) + ": cp.async: address not aligned to " +
                  std::to_string(all) + " bytes");
    if (to_address[l] < w.in->shared_base ||
        to_address[l] - w.in->shared_base + static_cast<unsigned>(all) > w.in->shared_size)
      throw error("lane " + std::to_string(l) + ": cp.async: outside of shared memory");
    const std::uint8_t *source =
        bytes ? place(w, space::global, from, 1, l, access::read) : nullptr;
    if (bytes && !w.in->memory->holds(from, static_cast<unsigned>(bytes)))
      throw error("lane " + std::to_string(l) + ": cp.async: global memory: reads " +
                  std::to_string(bytes) + " bytes " + w.in->memory->nearest(from));
    const auto offset = static_cast<std::uint32_t>(to_address[l] - w.in->shared_base);
    w.open_copies.push_back({w.in->shared + offset, source, offset, bytes, all - bytes, l, issued});
  }
  if (w.in->how->profile) {
    profile_global(w, i, from_address, m, static_cast<int>(i.a));
    profile_shared(w, i, to_address, m, static_cast<int>(i.a));
  }
}
void finish(warp &w, std::vector<pending_copy> &copies) {
  for (const pending_copy &c : copies) {
    if (w.in->how->races) note_copy(w, *c.issued, c.lane, c.shared_offset, c.bytes + c.zeros);
    if (c.bytes) std::memcpy(c.to, c.from, static_cast<std::size_t>(c.bytes));
    if (c.zeros) std::memset(c.to + c.bytes, 0, static_cast<std::size_t>(c.zeros));
  }
  copies.clear();
}
void commit_copies(warp &w, const instruction &, lane_mask) {
  w.copy_groups.push_back(std::move(w.open_copies));
  w.open_copies.clear();
}
// i.imm: how many of the latest groups may stay pending
void wait_copies(warp &w, const instruction &i, lane_mask) {
  while (static_cast<std::int64_t>(w.copy_groups.size()) > i.imm) {
    finish(w, w.copy_groups.front());
    w.copy_groups.pop_front();
  }
}
void wait_all_copies(warp &w, const instruction &i, lane_mask m) {
  commit_copies(w, i, m);
  while (!w.copy_groups.empty()) {
    finish(w, w.copy_groups.front());
    w.copy_groups.pop_front();
  }
}

// cp.async.mbarrier.arrive.noinc: the lanes arrive once what the warp has copied so far is there.
void arrive_after_copies(warp &w, const instruction &i, lane_mask m) {
  block &b = *w.in;
  std::vector<pending_copy> copies;
  for (auto &group : w.copy_groups) copies.insert(copies.end(), group.begin(), group.end());
  copies.insert(copies.end(), w.open_copies.begin(), w.open_copies.end());
  w.copy_groups.clear();
  w.open_copies.clear();
  std::vector<std::uint64_t> bars;
  for (lane_mask left = m; left; left &= left - 1) {
    bars.push_back(address_of_lane(w, i, __builtin_ctz(left), 0));
    barrier_at(b, bars.back());
  }
  b.engine.push_back([&w, &b, copies, bars]() mutable {
    finish(w, copies);
    for (const std::uint64_t bar : bars) arrive_at(w, barrier_at(b, bar), 1);
  });
}

}  // namespace

bool decode_async_copy(decoder &d, const statement &s, instruction &i) {
  if (s.op != "cp" || !s.has("async") || s.has("bulk")) return false;
  i.what = kind::async;
  if (s.has("mbarrier")) {
    if (!s.has("noinc")) d.refuse(s, "only with .noinc");
    d.address(i, s.operands[0]);
    i.run = arrive_after_copies;
  } else if (s.has("commit_group")) {
    i.run = commit_copies;
  } else if (s.has("wait_group")) {
    i.imm = static_cast<std::int64_t>(s.operands[0].bits);
    i.run = wait_copies;
  } else if (s.has("wait_all")) {
    i.run = wait_all_copies;
  } else {
    d.address(i, s.operands[0]);

    operand base;
    base.kind = operand::reg, base.name = s.operands[1].name;
    d.sources(i, base, type::u64);
    i.c = static_cast<std::uint32_t>(static_cast<std::int32_t>(s.operands[1].offset));
    i.a = static_cast<std::uint32_t>(s.operands[2].bits);
    if (s.operands.size() > 3 &&
        (s.operands[3].kind == operand::number || d.type_of(s.operands[3]) != type::b64)) {
      i.b = 1;
      d.sources(i, s.operands[3], type::u32);
    }
    i.run = copy_async;
  }
  return true;
}

}  // namespace qkv::ptx
