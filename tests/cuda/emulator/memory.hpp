// SPDX-License-Identifier: BSL-1.0
#pragma once
// How handlers access memory: addresses of lanes, checked; the profile of a request.
#include <cstdint>

#include "tests/cuda/emulator/lanes.hpp"
#include "tests/cuda/emulator/races.hpp"

namespace qkv::ptx {

enum class access : std::uint8_t { read, write, atomic };  // atomics race with nothing

std::uint64_t address_of_lane(warp &, const instruction &, int lane, int source);  // base + imm

// The host's pointer for a lane's access of `bytes` bytes. Throws when the address is misaligned,
// is outside every allocation, or, in shared memory, races with another warp or lane.
std::uint8_t *place(warp &, space, std::uint64_t address, int bytes, int lane, access);
std::uint8_t *shared_at(warp &, std::uint64_t address, int bytes, access, int lane = all_together);

// Counts a request of a warp: sectors of 32 bytes of global memory, wavefronts of shared memory.
void profile_global(warp &, const instruction &, const std::uint64_t *address, lane_mask,
                    int bytes);
void profile_shared(warp &, const instruction &, const std::uint64_t *address, lane_mask,
                    int bytes);

}  // namespace qkv::ptx
