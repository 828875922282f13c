// SPDX-License-Identifier: BSL-1.0
#pragma once
// Distances of keys from queries, times factors of known sign.
#include <vector>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/program.hpp"
#include "codegen/program/signs.hpp"

namespace qkv::codegen {

// A linear form times a factor of this sign. 0: another thing, or of unknown sign.
struct signed_distance {
  linear_form of;
  int factor = 0;
};

// Of a step that let() does not name; signs and positions: of each step of the program, as
// signs_of() and steps_of_positions() give them.
signed_distance distance_of(const program &, const std::vector<sign> &signs,
                            const std::vector<bool> &positions, node_id);

}  // namespace qkv::codegen
