// SPDX-License-Identifier: BSL-1.0
#pragma once
// Shifts that leave no trace: softmax written by hand gives the same whatever is subtracted from
// the scores.
#include <set>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// True if no result changes, rounding aside, when this step grows by a number at each of its
// positions: m of exp(s - m) / sum<kv>(exp(s - m)), and of m + log(sum<kv>(exp(s - m))).
// `cancelled`: further shifts for which that holds; `at_least_one`: sums of exp(s - m) that are 1
// or more, or 0, to which a number too small to change 1 may be added.
bool is_cancelled(const program &, node_id shift, const std::set<node_id> &cancelled = {},
                  const std::set<node_id> &at_least_one = {});

}  // namespace qkv::codegen
