// SPDX-License-Identifier: BSL-1.0
#pragma once
// Special registers: %tid and the like.
#include "tests/cuda/emulator/block.hpp"

namespace qkv::ptx {

// Writes those that the kernel reads, at the start of a block.
void special_registers(warp &);

}  // namespace qkv::ptx
