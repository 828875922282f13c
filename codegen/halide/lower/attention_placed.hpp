// SPDX-License-Identifier: BSL-1.0
#pragma once
// The sums of the pairs of a tile at positions, one for each position.
#include "codegen/halide/lower/attention_form.hpp"

namespace qkv::codegen {

// Defines `of_tile` of each such sum of the stage, from its pairs and positions.
void lower_placed(attention_form &);

}  // namespace qkv::codegen
