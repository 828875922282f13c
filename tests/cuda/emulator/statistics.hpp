// SPDX-License-Identifier: BSL-1.0
#pragma once
// Statistics of a kernel: instructions by kind, and how well its memory accesses coalesce.
#include <cstdint>
#include <map>

#include "tests/cuda/emulator/kernel.hpp"

namespace qkv::ptx {

// One memory instruction. Units are wavefronts of shared memory or sectors of global memory.
struct access_statistics {
  std::uint64_t requests = 0, units = 0, ideal = 0;
};

struct statistics {
  std::map<std::uint32_t, access_statistics> accesses;  // by index of instruction, when profiling
  std::uint64_t warp_instructions[static_cast<int>(kind::count_)] = {};
  std::uint64_t tensor_flops = 0;
  std::uint64_t global_requests = 0, global_sectors = 0, global_bytes = 0;
  std::uint64_t shared_requests = 0, shared_wavefronts = 0;
  std::uint64_t divergent_branches = 0;
  void add(const statistics &);
  std::uint64_t all_instructions() const;
};

}  // namespace qkv::ptx
