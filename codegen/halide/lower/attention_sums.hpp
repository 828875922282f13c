// SPDX-License-Identifier: BSL-1.0
#pragma once
// The sums over the keys of one block.
#include "codegen/halide/lower/attention_form.hpp"

namespace qkv::codegen {

// Defines `block_out` of each sum of the stage, from its pairs.
void lower_sums(attention_form &);

// The width of a state that has this sum, too, in whole vectors. Columns whose number the call
// decides are padded to them.
Halide::Expr width_with(attention_sum &, const Halide::Expr &width);

}  // namespace qkv::codegen
