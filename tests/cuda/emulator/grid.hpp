// SPDX-License-Identifier: BSL-1.0
#pragma once
// The blocks and threads of a launch, and the limits of a block.
#include <cstdint>

namespace qkv::ptx {

struct grid {
  std::uint32_t blocks[3], threads[3];
  std::uint32_t dynamic_shared = 0;
};

// Shared memory that a block can have on sm_90.
inline constexpr std::uint32_t most_shared_bytes = 227 * 1024;
inline constexpr std::uint32_t most_parameter_bytes = 4096;

}  // namespace qkv::ptx
