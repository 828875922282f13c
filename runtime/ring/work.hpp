// SPDX-License-Identifier: BSL-1.0
#pragma once
// Bytes that a round of keys moves and stores, and its operations, from the tables of its parts.
#include <functional>
#include <string_view>

#include "ring/forecast.hpp"
#include "ring/parts.hpp"

namespace qkv::ring {

enum class moved {
  queries,   // read by a hop along the query axis: it stays
  keys,      // read along the key axis: it travels
  key_sums,  // come home with the keys
  states,    // sums that stay with the queries
  pairs,     // results for pairs
  totals,    // sums over all tokens
  kept       // steps of own tokens that later parts read
};

// Visits each tensor of a round but those that all machines have whole. Sums of earlier keys are
// those that a hop gives, too: they are visited once.
void visit_tensors(const parts &, std::size_t round,
                   const std::function<void(moved, const qkv_kernel &, const qkv_argument &)> &);

// Without own_flops. pair_flops are those of products of each number of a key with the queries, if
// no mask hides any.
round_work work_of(const parts &, std::size_t round, int machines, const size_of_axis &);

}  // namespace qkv::ring
