// SPDX-License-Identifier: BSL-1.0
#pragma once
// Runs the blocks of a grid.
#include <cstdint>
#include <vector>

#include "tests/cuda/emulator/allocations.hpp"
#include "tests/cuda/emulator/grid.hpp"
#include "tests/cuda/emulator/kernel.hpp"
#include "tests/cuda/emulator/settings.hpp"
#include "tests/cuda/emulator/statistics.hpp"

namespace qkv::ptx {

// Throws ptx::error, which names kernel, block, line, instruction, and warp.
statistics launch(const kernel &, const grid &, const std::vector<std::uint8_t> &params,
                  const allocations &, const settings &);

}  // namespace qkv::ptx
