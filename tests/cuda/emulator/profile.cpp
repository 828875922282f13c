// SPDX-License-Identifier: BSL-1.0
// Counts the accesses of a request of a warp: sectors of global memory, wavefronts of shared
// memory.
#include <algorithm>

#include "tests/cuda/emulator/memory.hpp"

namespace qkv::ptx {
namespace {

void note_access(warp &w, const instruction &i, std::uint64_t units, std::uint64_t ideal) {
  access_statistics &x =
      w.in->stats->accesses[static_cast<std::uint32_t>(&i - w.in->k->code.data())];
  ++x.requests;
  x.units += units, x.ideal += ideal;
}

}  // namespace

void profile_global(warp &w, const instruction &i, const std::uint64_t *address, lane_mask m,
                    int bytes) {
  statistics &st = *w.in->stats;
  std::uint64_t sectors[64];
  int n = 0;
  for (lane_mask left = m; left; left &= left - 1) {
    const std::uint64_t a = address[__builtin_ctz(left)];
    sectors[n++] = a / 32;
    if ((a + static_cast<unsigned>(bytes) - 1) / 32 != a / 32) sectors[n++] = a / 32 + 1;
  }
  std::sort(sectors, sectors + n);
  const auto distinct = static_cast<std::uint64_t>(std::unique(sectors, sectors + n) - sectors);
  st.global_sectors += distinct;
  ++st.global_requests;
  note_access(w, i, distinct,
              static_cast<std::uint64_t>((__builtin_popcount(m) * bytes + 31) / 32));
  st.global_bytes += static_cast<std::uint64_t>(__builtin_popcount(m) * bytes);
}
void profile_shared(warp &w, const instruction &i, const std::uint64_t *address, lane_mask m,
                    int bytes) {
  statistics &st = *w.in->stats;
  ++st.shared_requests;
  const int at_once = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  std::uint64_t all = 0, ideal = 0;
  for (int from = 0; from < 32; from += at_once) {
    std::uint64_t words[32][8];
    int count[32] = {}, most = 0;
    for (int l = from; l < from + at_once; ++l) {
      if (!(m >> l & 1)) continue;
      for (int b = 0; b < std::max(bytes / 4, 1); ++b) {
        const std::uint64_t word = address[l] / 4 + static_cast<unsigned>(b);
        const auto bank = static_cast<std::size_t>(word % 32);
        bool known = false;
        for (int k = 0; k < std::min(count[bank], 8); ++k) known |= words[bank][k] == word;
        if (known) continue;
        if (count[bank] < 8) words[bank][count[bank]] = word;
        most = std::max(most, ++count[bank]);
      }
    }
    all += static_cast<unsigned>(most);
    ideal += most > 0;
  }
  st.shared_wavefronts += all;
  note_access(w, i, all, ideal);
}

}  // namespace qkv::ptx
