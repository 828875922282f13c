// SPDX-License-Identifier: BSL-1.0
#pragma once
// The time of a call on many machines, computed from what its parts cost.
#include <functional>
#include <qkv/ring.hpp>
#include <vector>

namespace qkv::ring {

// One round of keys, on all machines together.
struct round_work {
  double own_flops = 0;      // of tokens alone, before the keys go round
  double pair_flops = 0;     // of the pairs that masks leave
  double key_bytes = 0;      // of what travels with all keys
  double sum_bytes = 0;      // of what comes home with them
  double total_bytes = 0;    // of sums over all tokens
  double state_bytes = 0;    // of sums that stay, of all queries
  double pair_bytes = 0;     // of results for pairs
  double divided_bytes = 0;  // of what a hop reads of queries and keys, where it has heads
  double copied_bytes = 0;   // and where it has none
  double heads = 0;          // positions of the axis that heads are; 0: there is none
  double look_flops = 0;     // of finding out that masks leave no pair, for all positions
  double kept_bytes = 0;     // of steps of own tokens that later parts read
};

struct forecast {
  double seconds = 0;     // of the call
  double efficiency = 0;  // of the machines, beside one
  double turn = 0;        // seconds that one turn of a ring computes, on average
  double transfer = 0;    // and that its message takes
  double hidden = 0;      // the share of all transfers that takes no time of its own
  double message = 0;     // bytes of the longest message
  double memory = 0;      // bytes of messages, sums and steps between parts of one machine
};

// The work of a machine with the keys of another one, in a turn.
struct turn_work {
  double pairs;       // of all pairs that all machines compute: 1 together
  double passes = 1;  // over the sums of its queries: one for each run of keys that they see
  double calls = 0;   // of compiled code
  double hidden = 0;  // of all positions: those of runs that see nothing of each other
};
using work_of_turn = std::function<turn_work(int machine, int keys)>;

// Machines have the same work where `turns` is not given: zigzag under a causal mask, any layout
// without one. Of ring, gather, heads; of tree, where every machine has all queries.
forecast predicted(schedule, const std::vector<round_work> &, const hardware &, int machines,
                   const work_of_turn &turns = {});

}  // namespace qkv::ring
