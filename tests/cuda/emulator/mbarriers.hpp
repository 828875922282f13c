// SPDX-License-Identifier: BSL-1.0
#pragma once
// mbarriers as the copy engine uses them.
#include <cstdint>

#include "tests/cuda/emulator/block.hpp"

namespace qkv::ptx {

mbarrier &barrier_at(block &, std::uint64_t address);  // throws when there is none
void arrive_at(warp &, mbarrier &, std::int64_t count);
void complete_if_all(block &, mbarrier &);  // starts the next phase

}  // namespace qkv::ptx
