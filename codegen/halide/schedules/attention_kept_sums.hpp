// SPDX-License-Identifier: BSL-1.0
#pragma once
// The state of a walk of a CPU that keeps its sums, and their copies to results.
#include "codegen/halide/lower/attention_funcs.hpp"

namespace qkv::codegen {

// Places the state and the results; vectors have so many lanes. Returns the loop over tasks, in
// which all else is computed.
Halide::LoopLevel schedule_kept_sums(attention_funcs &, int lanes);

}  // namespace qkv::codegen
