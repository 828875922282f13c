// SPDX-License-Identifier: BSL-1.0
#pragma once
// The pairs of an attention, computed per query row and key: products, scores, weights, gates.
#include "codegen/halide/lower/attention_form.hpp"

namespace qkv::codegen {

// Defines the pairs of the stage and those of each of its sums.
void lower_pairs(attention_form &);

}  // namespace qkv::codegen
