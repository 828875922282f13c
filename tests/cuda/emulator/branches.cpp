// SPDX-License-Identifier: BSL-1.0
// Branches, which split a warp into groups of lanes; the end of lanes.
#include "tests/cuda/emulator/block.hpp"
#include "tests/cuda/emulator/decoder.hpp"
#include "tests/cuda/emulator/lanes.hpp"

namespace qkv::ptx {
namespace {

// These set the program counter themselves.

void branch(warp &w, const instruction &i, lane_mask taken) {
  group &g = w.groups[0];
  if (taken == g.lanes) {
    g.pc = i.target;
  } else if (taken == 0) {
    ++g.pc;
  } else {
    ++w.in->stats->divergent_branches;
    g.lanes &= ~taken;
    ++g.pc;
    w.groups.push_back({i.target, taken});
  }
}
void leave(warp &w, const instruction &, lane_mask m) {
  group &g = w.groups[0];
  w.live &= ~m;
  g.lanes &= ~m;
  ++g.pc;
  if (g.lanes == 0) w.groups.erase(w.groups.begin());
}
void trap(warp &, const instruction &, lane_mask m) {
  if (m) throw error("trap");
}

}  // namespace

bool decode_branch(decoder &d, const statement &s, instruction &i) {
  const std::string &op = s.op;
  if (op == "bra" || op == "brx") {
    const auto it = d.e.labels.find(s.operands[0].name);
    if (op == "brx" || it == d.e.labels.end()) d.refuse(s, "label is not known");
    i.target = it->second;
    i.what = kind::branch;
    i.run = branch;
    return true;
  }
  if (op == "ret" || op == "exit") {
    i.what = kind::branch;
    i.run = leave;
    return true;
  }
  if (op == "trap" || op == "brkpt") {
    i.run = trap;
    return true;
  }
  return false;
}

}  // namespace qkv::ptx
