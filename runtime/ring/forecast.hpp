// SPDX-License-Identifier: BSL-1.0
#pragma once
// The time of a call on many machines, computed from what its parts cost. Machines have the same work:
// zigzag under a causal mask, any layout without one.
#include <vector>

namespace qkv::ring {

struct hardware {
  double flops = 0;        // a second, of one machine at these kernels
  double link = 0;         // bytes a second that a machine sends and receives
  double latency = 10e-6;  // seconds of a message
  double memory = 0;       // bytes a second that it reads; 0: as fast as it computes
};

// One round of keys, on all machines together.
struct round_work {
  double own_flops = 0;    // of tokens alone, before the keys go round
  double pair_flops = 0;   // of the pairs that masks leave
  double key_bytes = 0;    // of what travels with all keys
  double sum_bytes = 0;    // of what comes home with them
  double total_bytes = 0;  // of sums over all tokens
  double state_bytes = 0;  // of sums that stay, of all queries
};

struct forecast {
  double seconds = 0;     // of the call
  double efficiency = 0;  // of the machines, beside one
  double turn = 0;        // seconds that one turn of a ring computes
  double transfer = 0;    // and that its message takes
  double hidden = 0;      // the share of all transfers that takes no time of its own
  double message = 0;     // bytes of the longest message
  double memory = 0;      // bytes of messages and states of one machine
};

forecast predicted(const std::vector<round_work> &, const hardware &, int machines);

// The same where every machine has all queries and keys stay: states are merged in a tree.
forecast predicted_tree(const std::vector<round_work> &, const hardware &, int machines);

}  // namespace qkv::ring
