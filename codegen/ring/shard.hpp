// SPDX-License-Identifier: BSL-1.0
#pragma once
// A kernel over tokens that many machines share: what each computes from its own tokens, and what
// it computes for its queries from keys that come round.
#include <string_view>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Kernels that pass tensors on by name. A call has one run of neighbouring positions of the query
// axis and one of the key axis; `first_<axis>` says where it begins, `whole_<axis>` how many
// positions all machines have together, no more than the longest axis has. Sums have names of
// qkv/core/partial_sum.hpp.
//   own[k]     of a machine's own tokens, before keys go round for the k-th time; the last one
//              gives the results. Arguments: those of the kernel, what earlier own[] stored, sums.
//              Its results with the name of a sum are of this run: those of all runs of all
//              machines join.
//   hops[k]    of some queries and some keys, and of some positions of each batch axis that all its
//              sums have, as heads (independent.hpp). Arguments: first_<query>, first_<key> and
//              first_<axis> for each of those; for each sum over keys, and over all pairs,
//              before_<sum>: of the keys so far; what it reads.
//              Results: these sums with these keys; sums over queries, of these queries alone: with
//              those of all others they go home to the machine of the keys. Sums over all pairs
//              join. Results of the kernel for pairs.
//   merges[k]  for each sum over keys, before_<sum> and with_<sum>, of different keys; results:
//              those of both. Nothing for kernels with other results: keys have to go round.
//   seen[k]    `seen_pairs`: how many pairs of these queries and keys some sum of hops[k] has, over
//              all other axes too; of 0, the hop changes nothing. Nothing where no mask hides
//              pairs, or a mask is as costly as the scores.
// A step that a hop reads along the key axis, and not along the query axis, travels.
struct shares {
  std::vector<program> own, hops, merges, seen;
};

// The axes by their names. Numbers are those of the kernel but for the order of sums over tokens:
// positions and sizes are those of all tokens together, so that masks, windows and biases mean the
// same. Throws std::runtime_error with the kernel and the step for what needs other tokens than
// these: scans and prefix sums along a shared axis.
shares shard(const program &, std::string_view query, std::string_view key);

// Number n of own[0], hops[0], merges[0], seen[0], own[1], .. of a kernel that has so many rounds.
// Throws as shard() does, and where it has another number of them.
program part_of(const program &, std::string_view query, std::string_view key, int rounds, int n);

}  // namespace qkv::codegen
