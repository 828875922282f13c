// SPDX-License-Identifier: BSL-1.0
// Instructions that the lanes of a warp execute together: shuffles, votes, reductions.
#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/lanes.hpp"

namespace qkv::ptx {
namespace {

// i.a: 0 up, 1 down, 2 butterfly, 3 index
void shuffle(warp &w, const instruction &i, lane_mask m) {
  const std::uint32_t wanted = src<std::uint32_t>(w, i, 3)[__builtin_ctz(m)];
  if (!together(w, m, wanted)) return;
  const auto *a = src<std::uint32_t>(w, i, 0), *b = src<std::uint32_t>(w, i, 1),
             *c = src<std::uint32_t>(w, i, 2);
  std::uint32_t result[lanes_of_warp];
  std::uint32_t inside[lanes_of_warp];
  for (lane_mask left = m; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    const int segment = static_cast<int>(c[l] >> 8 & 31), clamp = static_cast<int>(c[l] & 31),
              n = static_cast<int>(b[l] & 31);
    const int most = (l & segment) | (clamp & ~segment), least = l & segment;
    int j = i.a == 0 ? l - n : i.a == 1 ? l + n : i.a == 2 ? l ^ n : (least | (n & ~segment));
    const bool in = i.a == 0 ? j >= most : j <= most;
    if (!in) j = l;
    if (!(m >> j & 1))
      throw error("lane " + std::to_string(l) + " shuffles from lane " + std::to_string(j) +
                  ", which takes no part");
    result[l] = a[j], inside[l] = in;
  }
  auto *d = dst<std::uint32_t>(w, i);
  for_lanes(m, [&](int l) { d[l] = result[l]; });
  if (i.destinations > 1) {
    auto *p = dst<std::uint32_t>(w, i, 1);
    for_lanes(m, [&](int l) { p[l] = inside[l]; });
  }
}
// i.a: 0 all, 1 any, 2 uni, 3 ballot; i.b: negated
void vote(warp &w, const instruction &i, lane_mask m) {
  const std::uint32_t wanted = src<std::uint32_t>(w, i, 1)[__builtin_ctz(m)];
  if (!together(w, m, wanted)) return;
  const auto *p = src<std::uint32_t>(w, i, 0);
  lane_mask yes = 0;
  for_lanes(m, [&](int l) { yes |= static_cast<lane_mask>((p[l] ^ i.b) & 1) << l; });
  const std::uint32_t r = i.a == 0   ? yes == m
                          : i.a == 1 ? yes != 0
                          : i.a == 2 ? yes == m || yes == 0
                                     : yes;
  auto *d = dst<std::uint32_t>(w, i);
  for_lanes(m, [&](int l) { d[l] = r; });
}
void active(warp &w, const instruction &i, lane_mask m) {
  auto *d = dst<std::uint32_t>(w, i);
  for_lanes(m, [&](int l) { d[l] = m; });
}
void elect(warp &w, const instruction &i, lane_mask m) {
  const std::uint32_t wanted = src<std::uint32_t>(w, i, 0)[__builtin_ctz(m)];
  if (!together(w, m, wanted)) return;
  const auto leader = static_cast<std::uint32_t>(__builtin_ctz(m & wanted));
  for_lanes(m, [&](int l) {
    if (slot_of(w, i, 0) >= 0) dst<std::uint32_t>(w, i, 0)[l] = leader;
    dst<std::uint32_t>(w, i, 1)[l] = static_cast<std::uint32_t>(l) == leader;
  });
}
// i.a: 0 add, 1 min, 2 max, 3 and, 4 or, 5 xor; i.b: signed
void reduce(warp &w, const instruction &i, lane_mask m) {
  const std::uint32_t wanted = src<std::uint32_t>(w, i, 1)[__builtin_ctz(m)];
  if (!together(w, m, wanted)) return;
  const auto *a = src<std::uint32_t>(w, i, 0);
  std::uint32_t r = a[__builtin_ctz(m)];
  for (lane_mask left = m & (m - 1); left; left &= left - 1) {
    const std::uint32_t x = a[__builtin_ctz(left)];
    const bool less = i.b ? static_cast<std::int32_t>(x) < static_cast<std::int32_t>(r) : x < r;
    r = i.a == 0   ? r + x
        : i.a == 1 ? (less ? x : r)
        : i.a == 2 ? (less ? r : x)
        : i.a == 3 ? r & x
        : i.a == 4 ? r | x
                   : r ^ x;
  }
  auto *d = dst<std::uint32_t>(w, i);
  for_lanes(m, [&](int l) { d[l] = r; });
}

}  // namespace

bool together(warp &w, lane_mask present, lane_mask wanted) {
  wanted &= w.live;
  if ((present & wanted) == wanted) return true;
  w.groups[0].waits = true;
  return false;
}

bool together_all(warp &w, lane_mask m) {
  if (m == w.live && m == all_lanes) return true;
  if (w.live != all_lanes) throw error("a matrix instruction in a warp whose lanes have ended");
  w.groups[0].waits = true;
  return false;
}

bool decode_exchange(decoder &d, const statement &s, instruction &i) {
  const std::string &op = s.op;
  if (op == "shfl") {
    d.destinations(i, s.operands[0], type::b32);
    if (!s.operands[0].second.empty()) d.second_destination(i, s.operands[0]);
    for (std::size_t n = 1; n < s.operands.size(); ++n) d.sources(i, s.operands[n], type::b32);
    if (s.operands.size() < 5) d.refuse(s, "only with .sync");
    i.a = s.has("up") ? 0 : s.has("down") ? 1 : s.has("bfly") ? 2 : 3;
    i.what = kind::shared_load;
    i.run = shuffle;
    return true;
  }
  if (op == "vote") {
    const bool ballot = s.has("ballot");
    d.destinations(i, s.operands[0], ballot ? type::b32 : type::pred);
    d.sources(i, s.operands[1], type::pred);
    d.sources(i, s.operands[2], type::b32);
    i.a = s.has("all") ? 0 : s.has("any") ? 1 : s.has("uni") ? 2 : 3;
    i.b = s.operands[1].negated;
    i.run = vote;
    return true;
  }
  if (op == "activemask") {
    d.destinations(i, s.operands[0], type::b32);
    i.run = active;
    return true;
  }
  if (op == "elect") {
    d.destinations(i, s.operands[0], type::b32);
    d.second_destination(i, s.operands[0]);
    d.sources(i, s.operands[1], type::b32);
    i.run = elect;
    return true;
  }
  if (op == "redux") {
    d.destinations(i, s.operands[0], type::b32);
    d.sources(i, s.operands[1], type::b32);
    d.sources(i, s.operands[2], type::b32);
    i.a = s.has("add")   ? 0
          : s.has("min") ? 1
          : s.has("max") ? 2
          : s.has("and") ? 3
          : s.has("or")  ? 4
                         : 5;
    i.b = last_type(s) == type::s32;
    i.run = reduce;
    return true;
  }
  return false;
}

}  // namespace qkv::ptx
