// SPDX-License-Identifier: BSL-1.0
#pragma once
// The pairs of an attention, computed per query row and key: products, scores, weights, gates.
#include "codegen/halide/lower/attention_setting.hpp"

namespace qkv::codegen {

// Defines the pairs of the stage and those of each of its sums.
void lower_pairs(attention_setting &);

}  // namespace qkv::codegen
