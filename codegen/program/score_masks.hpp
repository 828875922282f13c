// SPDX-License-Identifier: BSL-1.0
#pragma once
// The masks that hide keys from weights.
#include <optional>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// The conditions of the masks that scores pass on their way into these weights, through pointwise
// steps.
std::vector<node_id> masks_of_weights(const program &, node_id weights);

// The scores under their masks.
node_id unmasked(const program &, node_id scores);

// True for a condition that shows each query keys up to its own position alone.
bool is_causal(const program &, node_id condition, const std::vector<axis_id> &keys);

// The axis of keys of which the condition shows as many as a number of the call says, if there is
// one.
std::optional<axis_id> axis_of_padding(const program &, node_id condition);

// True for a condition that only compares keys with numbers of the call.
bool is_padding(const program &, node_id condition);

}  // namespace qkv::codegen
