// SPDX-License-Identifier: BSL-1.0
#pragma once
// The keys of scores: the axes of the softmaxes that they go into.
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// A number that leaves nothing of scores: less it, they are hidden.
inline constexpr double leaves_nothing_of_scores = 1e3;

// Through pointwise steps and masks; users: of each step, as users_of() gives them.
std::vector<axis_id> keys_of_scores(const program &, const std::vector<std::vector<node_id>> &users,
                                    node_id scores);

}  // namespace qkv::codegen
