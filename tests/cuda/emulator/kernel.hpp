// SPDX-License-Identifier: BSL-1.0
#pragma once
// A decoded kernel: its instructions, whose operands are slots, its constants, its parameters.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/cuda/emulator/module.hpp"

namespace qkv::ptx {

// A register is an array over the lanes of a warp, and an instruction is a loop over them. A mask
// has one bit per lane.
inline constexpr int lanes_of_warp = 32;
using lane_mask = std::uint32_t;
inline constexpr lane_mask all_lanes = ~0u;

struct instruction;
struct warp;
using handler = void (*)(warp &, const instruction &, lane_mask);

// Instructions are counted by kind.
enum class kind : std::uint8_t {
  other,
  integer,
  fp32,
  fp64,
  special,
  convert,
  load,
  store,
  shared_load,
  shared_store,
  tensor,
  barrier,
  branch,
  atomic,
  async,
  count_
};
const char *name_of(kind);

struct instruction {
  handler run = nullptr;
  std::int32_t guard = -1;  // slot of the predicate, or -1
  bool guard_not = false;
  kind what = kind::other;
  std::uint16_t destinations = 0, sources = 0;
  std::uint32_t first = 0;  // index into kernel::slots: destinations, then sources
  std::int64_t imm = 0;     // offset of an address, or the value of an immediate
  std::int32_t target = -1;
  std::uint32_t a = 0, b = 0, c = 0, d = 0;  // what the handler defines them to be
  int line = 0;
};

struct constant_slot {
  std::int32_t slot;
  std::uint64_t bits;
  bool wide;
};

// The first bytes of a block's shared memory, which the system owns on sm_90.
inline constexpr std::uint32_t shared_of_system = 1024;

struct kernel {
  std::string name;
  std::vector<instruction> code;
  std::vector<std::int32_t> slots;
  std::vector<constant_slot> constants;
  std::map<std::string, std::int32_t> special;  // %tid.x and the like: their slots
  std::vector<variable> params;
  std::int64_t register_bytes = 0, shared_bytes = 0, shared_align = 16, local_bytes = 0;
  // Variables start behind the system's part. Code without variables counts from 0 by itself.
  std::uint32_t shared_base = 0;
  int most_threads = 0;
  std::vector<std::string> texts;  // of each instruction, for messages
};

}  // namespace qkv::ptx
