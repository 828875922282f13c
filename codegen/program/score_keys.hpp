#pragma once
// The keys of scores: the axes of the softmaxes that they go into.
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Through pointwise steps and masks; users: of each step, as users_of() gives them.
std::vector<axis_id> keys_of_scores(const program &, const std::vector<std::vector<node_id>> &users,
                                    node_id scores);

}  // namespace qkv::codegen
