// SPDX-License-Identifier: BSL-1.0
#pragma once
// Vector clocks of warps, and the last accesses of shared memory that they date.
#include <cstdint>
#include <vector>

namespace qkv::ptx {

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

}  // namespace qkv::ptx
