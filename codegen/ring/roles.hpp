// SPDX-License-Identifier: BSL-1.0
#pragma once
// The relation of each step of a program to the queries and the keys that machines share.
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

struct roles {
  // Throws std::runtime_error with the step that needs other tokens than a machine's own ones, or
  // its queries with all keys.
  roles(const program &, axis_id query, axis_id key);

  axis_id query, key;
  // Per step: it exists for pairs of a query and a key, or sums over keys, in the round of
  // this number; -1: of own tokens.
  std::vector<int> round;
  std::vector<bool> of_pairs, sums;
  std::vector<int> level;    // the rounds that must be over before
  std::vector<bool> simple;  // a few instructions from arguments: computed where it is used
  int rounds = 0;
};

}  // namespace qkv::codegen
