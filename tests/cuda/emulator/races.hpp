#pragma once
// Races in shared memory: accesses that no barrier orders, by vector clocks of the warps.
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
  bool async = false;      // by the copy engine
};

// Records an access of shared memory. Throws when it races with that of another warp.
void note_read(warp &, std::uint32_t offset, int bytes);
void note_write(warp &, std::uint32_t offset, int bytes);

}  // namespace qkv::ptx
