// SPDX-License-Identifier: BSL-1.0
#pragma once
// The state of a running block: warps, their groups of lanes, barriers, shared memory.
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "tests/cuda/emulator/allocations.hpp"
#include "tests/cuda/emulator/clocks.hpp"
#include "tests/cuda/emulator/grid.hpp"
#include "tests/cuda/emulator/kernel.hpp"
#include "tests/cuda/emulator/settings.hpp"
#include "tests/cuda/emulator/statistics.hpp"

namespace qkv::ptx {

struct block;

// Lanes that took the same way. The group that is furthest behind runs, so that groups meet again.
struct group {
  int pc;
  lane_mask lanes;
  bool waits = false;  // for other lanes of the warp, at an instruction that needs them
};

struct pending_copy {  // cp.async: done when the warp waits for it
  std::uint8_t *to;
  const std::uint8_t *from;
  std::uint32_t shared_offset;
  int bytes, zeros, lane;
  std::shared_ptr<const clocks> issued;  // `seen` of the warp then: the copy may be done at once
};

struct warp {
  block *in = nullptr;
  int id = 0;
  std::uint8_t *regs = nullptr;
  std::uint8_t *local = nullptr;
  std::vector<group> groups;  // [0] runs
  lane_mask live = 0;
  int barrier = -1;     // the barrier at which the warp waits, or -1
  bool yields = false;  // the turn ends after this instruction
  bool again = false;   // the turn ends, and the next one repeats this instruction
  std::uint32_t carry[lanes_of_warp] = {};
  clocks seen;
  clocks fenced;  // `seen` at the last fence.proxy.async
  std::vector<pending_copy> open_copies;
  std::deque<std::vector<pending_copy>> copy_groups;
  // wgmma: whether a fence orders registers before it; how many groups are committed, and the words
  // of shared memory that products read: of those that are not committed, and of each commit.
  bool registers_fenced = false;
  std::size_t products = 0;
  std::vector<std::uint32_t> open_reads;
  std::vector<std::vector<std::uint32_t>> read_groups;
  std::size_t groups_done = 0;

  std::uint32_t &clock() { return seen[static_cast<std::size_t>(id)]; }
  bool done() const { return live == 0; }
};

struct named_barrier {  // bar.sync 0 to 15
  int expected = 0, arrived = 0;
  std::vector<int> waiting;  // warps
  clocks joined;
  // Of bar.red: how threads' predicates combine, how many are true, and of how many; the registers
  // of warps that wait for the result.
  int how = 0, yes = 0, votes = 0;
  std::vector<std::pair<int, std::int32_t>> results;
};

struct mbarrier {
  std::int64_t expected = 0, pending = 0, bytes = 0;
  unsigned phase = 0;
  clocks arriving, done;
};

struct block {
  const kernel *k = nullptr;
  const settings *how = nullptr;
  const allocations *memory = nullptr;
  statistics *stats = nullptr;
  grid g{};
  std::uint32_t index[3] = {};
  std::uint8_t *params = nullptr;
  std::uint8_t *shared = nullptr;
  std::uint32_t shared_base = 0;  // the address of its first byte in the space .shared
  std::uint32_t shared_size = 0;
  std::vector<warp> warps;
  std::array<named_barrier, 16> barriers;
  std::map<std::uint32_t, mbarrier> mbarriers;  // by address
  std::deque<std::function<void()>> engine;     // bulk copies that are under way
  std::vector<last_write> writes;               // [word]
  std::vector<last_read> reads;                 // [word][warp]
  std::mt19937 random;
};

// Lets the warps at a barrier go on once all have arrived. A warp that ends counts as arrived.
void release_if_complete(block &, named_barrier &);

// For instructions that need all lanes of a mask, or of the warp: true once these have met. Until
// then, the group waits for the others.
bool together(warp &, lane_mask present, lane_mask wanted);
bool together_all(warp &, lane_mask present);

}  // namespace qkv::ptx
