#pragma once
// Races in shared memory: accesses that no barrier orders. Warps have vector clocks; the lanes of a
// warp are ordered by whatever moves its clock.
#include <cstdint>
#include <vector>

namespace qkv::ptx {

struct warp;

// clocks[w]: up to which moment of warp w its accesses are known to be over.
using clocks = std::vector<std::uint32_t>;
void join(clocks &, const clocks &);
inline constexpr std::uint32_t in_flight = ~0u;  // clock of a read that no warp has waited for

struct last_write {  // of 4 bytes of shared memory
  std::uint32_t clock = 0;
  std::uint16_t warp = 0;
  std::uint8_t bytes = 0;  // a bit for each byte that was written
  std::int8_t lane = 0;
  bool async = false;  // by the copy engine
};

struct last_read {  // of 4 bytes by a warp
  std::uint32_t clock = 0;
  std::int8_t lane = 0;
};

// In place of a lane: some of the warp's lanes, which it does not matter.
inline constexpr std::int8_t all_together = -1;
inline constexpr std::int8_t several = -2;  // of a last_read: more than one, at the same clock

// Records an access of shared memory. Throws when it races with that of another warp or lane. Two
// lanes that write the same place do not race: they may write the same value.
void note_read(warp &, int lane, std::uint32_t offset, int bytes);
void note_write(warp &, int lane, std::uint32_t offset, int bytes);

}  // namespace qkv::ptx
