// SPDX-License-Identifier: BSL-1.0
#pragma once
// A kernel over tokens that many machines share: what each computes from its own tokens, and what it
// computes for its queries from keys that come round.
#include <string_view>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Kernels that pass tensors on by name. A call has one run of neighbouring positions of the query
// axis and one of the key axis; `first_<axis>` says where it begins, `whole_<axis>` how many
// positions all machines have together.
//   own[k]   of a machine's own tokens, before keys go round for the k-th time; the last one gives
//            the results. Arguments: those of the kernel, what earlier own[] stored, states.
//   hops[k]  of some queries and some keys. Arguments: first_<query> and first_<key>; the states so far,
//            one for each result and in their order, called before_<state>; what it reads. Results:
//            the states with these keys. Before any keys, a state whose name begins with lse or most
//            is -inf, one with least inf, others are 0.
// What a hop reads along the key axis travels.
struct shares {
  std::vector<program> own, hops;
};

// The axes by their names. Numbers are those of the kernel but for the order of sums over keys:
// positions and sizes are those of all tokens together, so that masks, windows and biases mean the
// same. Throws std::runtime_error with the kernel and the step for what needs other tokens than
// these: sums over queries, scans and prefix sums along a shared axis, results of pairs.
shares shard(const program &, std::string_view query, std::string_view key);

// Number n of own[0], hops[0], own[1], .. of a kernel that has so many rounds. Throws as shard() does,
// and where it has another number of them.
program part_of(const program &, std::string_view query, std::string_view key, int rounds, int n);

}  // namespace qkv::codegen
