// SPDX-License-Identifier: BSL-1.0
#pragma once
// The relation of each step of a program to the queries and the keys that machines share.
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

enum class place {
  own,         // of a machine's own tokens, or of none
  pairs,       // it exists for pairs of a query and a key
  query_sum,   // a sum over the keys of pairs: it stays with the queries
  key_sum,     // a sum over the queries of pairs: it travels with the keys
  pair_total,  // a sum over all pairs
  own_total    // a sum over tokens that takes no pairs of them
};
constexpr bool is_sum(place p) { return p != place::own && p != place::pairs; }
// True for what the machines compute while keys go round.
constexpr bool is_of_pairs(place p) { return p != place::own && p != place::own_total; }

struct token_places {
  // Throws std::runtime_error with the step that needs other tokens than a machine's own ones, or
  // its queries with all keys.
  token_places(const program &, axis_id query, axis_id key);

  axis_id query, key;
  // Per step.
  std::vector<place> at;
  std::vector<int> level;    // the rounds that must be over before
  std::vector<int> round;    // in which it is computed: the level of its operands
  std::vector<bool> simple;  // a few instructions from arguments: computed where it is used
  int rounds = 0;
  std::vector<axis_id> independent;  // left empty here: see independent.hpp
  std::vector<axis_id> key_blocks;   // whose positions are blocks of keys: pages of a cache
};

// The axes that a step sums over.
std::vector<axis_id> summed_axes(const program &, node_id);

}  // namespace qkv::codegen
