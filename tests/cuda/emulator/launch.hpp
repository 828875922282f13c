#pragma once
// Runs the blocks of a grid.
#include <cstdint>
#include <vector>

#include "tests/cuda/emulator/allocations.hpp"
#include "tests/cuda/emulator/kernel.hpp"
#include "tests/cuda/emulator/settings.hpp"
#include "tests/cuda/emulator/statistics.hpp"

namespace qkv::ptx {

struct grid {
  std::uint32_t blocks[3], threads[3];
  std::uint32_t dynamic_shared = 0;
};

// Shared memory that a block can have on sm_90.
inline constexpr std::uint32_t most_shared_bytes = 227 * 1024;
inline constexpr std::uint32_t most_parameter_bytes = 4096;

// Throws ptx::error, which names kernel, block, line, instruction, and warp.
statistics launch(const kernel &, const grid &, const std::vector<std::uint8_t> &params,
                  const allocations &, const settings &);

}  // namespace qkv::ptx
