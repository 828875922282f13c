// SPDX-License-Identifier: BSL-1.0
// Barriers of a block and of a warp; fences.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/lanes.hpp"

namespace qkv::ptx {
namespace {

int live_warps(const block &b) {
  return static_cast<int>(
      std::count_if(b.warps.begin(), b.warps.end(), [](const warp &w) { return !w.done(); }));
}

// i.a: only arrives; i.b: has a count; operands: number, count
void arrive(warp &w, const instruction &i, lane_mask m) {
  if (!together(w, m, all_lanes)) return;
  const int lane = __builtin_ctz(m);
  const std::uint32_t which = src<std::uint32_t>(w, i, 0)[lane];
  if (which > 15) throw error("there are barriers 0 to 15");
  named_barrier &n = w.in->barriers[which];
  n.joined.resize(w.seen.size());
  if (i.b) {
    const std::uint32_t threads = src<std::uint32_t>(w, i, 1)[lane];
    if (threads % 32 || threads == 0) throw error("a barrier's threads are a multiple of 32");
    if (n.arrived && n.expected != static_cast<int>(threads / 32))
      throw error("warps name different counts for a barrier");
    n.expected = static_cast<int>(threads / 32);
  } else {
    n.expected = 0;
  }
  ++n.arrived;
  join(n.joined, w.seen);
  if (i.a) {
    ++w.clock();
  } else {
    n.waiting.push_back(w.id);
    w.barrier = static_cast<int>(which);
  }
  release_if_complete(*w.in, n);
}
// bar.red: also combines a predicate of all threads, for each of them. i.a: 0 or, 1 and, 2 how
// many, and 3 more where a count is given; i.b: negated; operands: number, predicate, perhaps a
// count.
void arrive_and_combine(warp &w, const instruction &i, lane_mask m) {
  if (!together(w, m, all_lanes)) return;
  const std::uint32_t which = src<std::uint32_t>(w, i, 0)[__builtin_ctz(m)];
  if (which > 15) throw error("there are barriers 0 to 15");
  named_barrier &n = w.in->barriers[which];
  n.joined.resize(w.seen.size());
  const auto *p = src<std::uint32_t>(w, i, 1);
  for_lanes(m, [&](int l) { n.yes += (p[l] ^ static_cast<std::uint32_t>(i.b)) & 1, ++n.votes; });
  n.how = i.a % 3;
  n.results.emplace_back(w.id, slot_of(w, i, 0));
  n.expected = i.a > 2 ? static_cast<int>(src<std::uint32_t>(w, i, 2)[__builtin_ctz(m)] / 32) : 0;
  ++n.arrived;
  join(n.joined, w.seen);
  n.waiting.push_back(w.id);
  w.barrier = static_cast<int>(which);
  release_if_complete(*w.in, n);
}
void warp_barrier(warp &w, const instruction &i, lane_mask m) {
  if (together(w, m, src<std::uint32_t>(w, i, 0)[__builtin_ctz(m)])) ++w.clock();
}
void proxy_fence(warp &w, const instruction &, lane_mask) { w.fenced = w.seen; }
void sleep(warp &w, const instruction &, lane_mask) { w.yields = true; }

}  // namespace

void release_if_complete(block &b, named_barrier &n) {
  const int wanted = n.expected ? n.expected : live_warps(b);
  if (n.arrived < wanted || n.arrived == 0) return;
  for (int id : n.waiting) {
    warp &w = b.warps[static_cast<std::size_t>(id)];
    join(w.seen, n.joined);
    ++w.clock();
    w.barrier = -1;
  }
  const std::uint32_t result = n.how == 0   ? n.yes > 0
                               : n.how == 1 ? n.yes == n.votes
                                            : static_cast<std::uint32_t>(n.yes);
  for (const auto &[id, slot] : n.results) {
    auto *d = reg<std::uint32_t>(b.warps[static_cast<std::size_t>(id)], slot);
    for_lanes(all_lanes, [&](int l) { d[l] = result; });
  }
  n.results.clear();
  n.yes = n.votes = 0;
  n.arrived = 0;
  n.waiting.clear();
  std::fill(n.joined.begin(), n.joined.end(), 0);
}

namespace {

// Planted mistakes: true for a barrier that a test leaves out, by its number in the process.
bool is_left_out(int line) {
  static const std::string without = [] {
    const char *numbers = std::getenv("PTX_WITHOUT_BARRIERS");
    return "," + std::string(numbers ? numbers : "") + ",";
  }();
  static int decoded = 0;
  if (without.find("," + std::to_string(decoded++) + ",") == std::string::npos) return false;
  std::fprintf(stderr, "the barrier of line %d is left out\n", line);
  return true;
}

}  // namespace

bool decode_barrier(decoder &d, const statement &s, instruction &i) {
  const std::string &op = s.op;
  if (op == "bar" || op == "barrier") {
    if (s.has("cluster")) d.refuse(s, "clusters are not supported");
    i.what = kind::barrier;
    if (s.has("warp")) {
      d.sources(i, s.operands[0], type::u32);
      i.run = warp_barrier;
      return true;
    }
    if (s.has("red")) {
      d.destinations(i, s.operands[0], s.has("popc") ? type::u32 : type::pred);
      d.sources(i, s.operands[1], type::u32);
      const operand &predicate = s.operands.back();
      d.sources(i, predicate, type::pred);
      i.a = s.has("or") ? 0 : s.has("and") ? 1 : 2;
      i.b = predicate.negated;
      if (s.operands.size() > 3) d.sources(i, s.operands[2], type::u32), i.a += 3;
      i.run = arrive_and_combine;
      return true;
    }
    if (is_left_out(s.line)) {
      i.run = nothing;
      return true;
    }
    for (const operand &o : s.operands) d.sources(i, o, type::u32);
    i.a = s.has("arrive"), i.b = s.operands.size() > 1;
    i.run = arrive;
    return true;
  }
  if (op == "fence" || op == "membar" || op == "griddepcontrol" || op == "setmaxnreg" ||
      op == "isspacep") {
    if (op == "isspacep") return false;
    i.run = op == "fence" && s.has("proxy") ? proxy_fence : nothing;
    return true;
  }
  if (op == "nanosleep") {
    i.run = sleep;
    return true;
  }
  return false;
}

}  // namespace qkv::ptx
