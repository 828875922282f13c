// SPDX-License-Identifier: BSL-1.0
// mbarrier: barriers in shared memory that count threads and bytes.
#include "tests/cuda/emulator/mbarriers.hpp"

#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/memory.hpp"

namespace qkv::ptx {

void arrive_at(warp &w, mbarrier &m, std::int64_t count) {
  m.arriving.resize(w.seen.size());
  join(m.arriving, w.seen);
  ++w.clock();
  m.pending -= count;
  complete_if_all(*w.in, m);
}

namespace {

// i.a: 0 init, 1 inval, 2 arrive, 3 arrive.expect_tx, 4 expect_tx, 5 try_wait, 7 complete_tx
void barrier_op(warp &w, const instruction &i, lane_mask m) {
  block &b = *w.in;
  for (lane_mask left = m; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    const std::uint64_t at = address_of_lane(w, i, l, 0);
    const std::uint32_t value = i.sources > 1 ? src<std::uint32_t>(w, i, 1)[l] : 1;
    if (i.a == 0) {
      if (at % 8) throw error("an mbarrier is aligned to 8 bytes");
      mbarrier fresh;
      fresh.expected = fresh.pending = value;
      b.mbarriers[static_cast<std::uint32_t>(at)] = fresh;
      continue;
    }
    mbarrier &bar = barrier_at(b, at);
    if (i.a == 1) b.mbarriers.erase(static_cast<std::uint32_t>(at));
    if (i.a == 2) arrive_at(w, bar, i.sources > 1 ? value : 1);
    if (i.a == 3 || i.a == 4) bar.bytes += value;
    if (i.a == 3) arrive_at(w, bar, 1);
    if (i.a == 7) {
      bar.bytes -= value;
      complete_if_all(b, bar);
    }
    if (i.a == 5) {
      const bool done = (bar.phase & 1) != (value & 1);
      dst<std::uint32_t>(w, i)[l] = done;
      if (done) {
        bar.done.resize(w.seen.size());
        join(w.seen, bar.done);
      } else {
        w.yields = true;
      }
    }
  }
}

}  // namespace

mbarrier &barrier_at(block &b, std::uint64_t address) {
  const auto it = b.mbarriers.find(static_cast<std::uint32_t>(address));
  if (it == b.mbarriers.end())
    throw error("no mbarrier was initialised at byte " +
                std::to_string(static_cast<std::int64_t>(address) - b.shared_base) +
                " of shared memory");
  return it->second;
}
void complete_if_all(block &b, mbarrier &m) {
  if (m.pending < 0) throw error("more threads arrive at an mbarrier than it was initialised for");
  if (m.pending != 0 || m.bytes != 0) return;
  m.phase ^= 1;
  m.pending = m.expected;
  m.done.resize(b.warps.size());
  join(m.done, m.arriving);
}

bool decode_mbarrier(decoder &d, const statement &s, instruction &i) {
  if (s.op != "mbarrier") return false;
  i.what = kind::async;
  i.run = barrier_op;
  const auto token_first = [&] { return s.operands[0].kind != operand::address; };
  if (s.has("try_wait") || s.has("test_wait")) {
    if (!s.has("parity")) d.refuse(s, "only waits by parity");
    d.destinations(i, s.operands[0], type::pred);
    d.address(i, s.operands[1]);
    d.sources(i, s.operands[2], type::u32);
    i.a = 5;
    return true;
  }
  const std::size_t from = token_first() ? 1 : 0;  // the state token is not used
  d.address(i, s.operands[from]);
  if (s.operands.size() > from + 1) d.sources(i, s.operands[from + 1], type::u32);
  i.a = s.has("init")          ? 0
        : s.has("inval")       ? 1
        : s.has("arrive")      ? (s.has("expect_tx") ? 3 : 2)
        : s.has("expect_tx")   ? 4
        : s.has("complete_tx") ? 7
                               : 99;
  if (i.a == 99) d.refuse(s, "not supported");
  return true;
}

}  // namespace qkv::ptx
