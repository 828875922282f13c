// SPDX-License-Identifier: BSL-1.0
#pragma once
// The sums over the keys of one block.
#include "codegen/halide/lower/attention_setting.hpp"

namespace qkv::codegen {

// Defines `block_out` of each sum of the stage, from its pairs.
void lower_sums(attention_setting &);

}  // namespace qkv::codegen
