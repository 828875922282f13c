// SPDX-License-Identifier: BSL-1.0
#include "tests/cuda/emulator/races.hpp"

#include <string>

#include "tests/cuda/emulator/block.hpp"

namespace qkv::ptx {
namespace {

std::uint8_t bytes_in_word(std::uint32_t word, std::uint32_t offset, std::uint32_t end) {
  std::uint8_t m = 0;
  for (std::uint32_t b = 0; b < 4; ++b)
    if (word * 4 + b >= offset && word * 4 + b < end) m |= static_cast<std::uint8_t>(1u << b);
  return m;
}
[[noreturn]] void race_of_lanes(const char *what, std::uint32_t offset, int lane, int other,
                                const warp &w) {
  throw error(std::string("race in shared memory at byte ") + std::to_string(offset) + ": lane " +
              std::to_string(lane) + " of warp " + std::to_string(w.id) + " " + what +
              (other == several ? " other lanes" : " lane " + std::to_string(other)) +
              " without a barrier between");
}
[[noreturn]] void race(const char *what, std::uint32_t offset, int other, const warp &w) {
  throw error(std::string("race in shared memory at byte ") + std::to_string(offset) + ": warp " +
              std::to_string(w.id) + " " + what + " warp " + std::to_string(other) +
              " without a barrier between");
}

}  // namespace

void note_read(warp &w, int lane, std::uint32_t offset, int bytes) {
  block &b = *w.in;
  const std::uint32_t end = offset + static_cast<std::uint32_t>(bytes);
  for (std::uint32_t word = offset / 4; word * 4 < end; ++word) {
    const last_write &s = b.writes[word];
    if (s.clock > w.seen[s.warp] && s.warp != w.id && (s.bytes & bytes_in_word(word, offset, end)))
      race("reads what was written by", word * 4, s.warp, w);
    if (s.clock == w.clock() && s.warp == w.id && s.lane != lane && s.lane != all_together &&
        lane != all_together && (s.bytes & bytes_in_word(word, offset, end)))
      race_of_lanes("reads what was written by", word * 4, lane, s.lane, w);
    last_read &r = b.reads[word * b.warps.size() + static_cast<unsigned>(w.id)];
    if (r.clock != w.clock())
      r = {w.clock(), static_cast<std::int8_t>(lane)};
    else if (r.lane != lane)
      r.lane = r.lane == all_together || lane == all_together ? all_together : several;
  }
}
void note_copy(warp &w, const clocks &seen, int lane, std::uint32_t offset, int bytes) {
  block &b = *w.in;
  const std::uint32_t end = offset + static_cast<std::uint32_t>(bytes);
  for (std::uint32_t word = offset / 4; word * 4 < end; ++word) {
    last_write &s = b.writes[word];
    const std::uint8_t mine = bytes_in_word(word, offset, end);
    if (s.clock > seen[s.warp] && s.warp != w.id && (s.bytes & mine))
      race("overwrites what was written by", word * 4, s.warp, w);
    const last_read *reads = &b.reads[word * b.warps.size()];
    for (std::size_t other = 0; other < b.warps.size(); ++other)
      if (reads[other].clock > seen[other] && static_cast<int>(other) != w.id)
        race("overwrites what is read by", word * 4, static_cast<int>(other), w);
    const last_read &own = reads[w.id];
    if (own.clock == w.clock() && own.lane != lane && own.lane != all_together &&
        lane != all_together)
      race_of_lanes("overwrites what is read by", word * 4, lane, own.lane, w);
    if (s.warp == w.id && s.clock == w.clock())
      s.bytes |= mine;
    else
      s.bytes = mine;
    s.clock = w.clock(), s.warp = static_cast<std::uint16_t>(w.id), s.async = false;
    s.lane = static_cast<std::int8_t>(lane);
  }
}

void note_write(warp &w, int lane, std::uint32_t offset, int bytes) {
  note_copy(w, w.seen, lane, offset, bytes);
}

}  // namespace qkv::ptx
