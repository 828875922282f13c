// SPDX-License-Identifier: BSL-1.0
#pragma once
// The state and the results of a walk that sums its pairs both ways: over the keys for each row,
// and over the rows for each key. A task takes a part of the rows and all keys.
#include "codegen/halide/lower/attention_setting.hpp"

namespace qkv::codegen {

void lower_both_ways(attention_setting &);

}  // namespace qkv::codegen
