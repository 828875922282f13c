// SPDX-License-Identifier: BSL-1.0
#pragma once
// Weights that are only multiplied with values.
#include <optional>
#include <set>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// The products over these axes that a step ends in, if its every use is linear in it: products,
// quotients and negations on the way to them. `users` is the result of users_of().
std::optional<std::set<node_id>> products_linear_in(const program &,
                                                    const std::vector<std::vector<node_id>> &users,
                                                    node_id, const std::vector<axis_id> &over);

}  // namespace qkv::codegen
