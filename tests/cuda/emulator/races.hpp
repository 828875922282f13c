// SPDX-License-Identifier: BSL-1.0
#pragma once
// Races in shared memory: accesses that no barrier orders. Warps have vector clocks; the lanes of a
// warp are ordered by whatever moves its clock.
#include <cstdint>

#include "tests/cuda/emulator/clocks.hpp"

namespace qkv::ptx {

struct warp;

// In place of a lane: some of the warp's lanes, which it does not matter.
inline constexpr std::int8_t all_together = -1;
inline constexpr std::int8_t several = -2;  // of a last_read: more than one, at the same clock

// Records an access of shared memory. Throws when it races with that of another warp or lane. Two
// lanes that write the same place do not race: they may write the same value.
void note_read(warp &, int lane, std::uint32_t offset, int bytes);
void note_write(warp &, int lane, std::uint32_t offset, int bytes);
// Records the write of an asynchronous copy, which may happen as soon as the copy is issued:
// `issued` are the clocks that the warp knew then.
void note_copy(warp &, const clocks &issued, int lane, std::uint32_t offset, int bytes);

}  // namespace qkv::ptx
