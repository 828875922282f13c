// SPDX-License-Identifier: BSL-1.0
#pragma once
// Copies of the rows of an attention of a CPU, made once a task.
#include "codegen/halide/lower/attention_funcs.hpp"

namespace qkv::codegen {

// Places the copies of rows and their positions in `task`; vectors have so many lanes.
void schedule_rows(attention_funcs &, const Halide::LoopLevel &task, int lanes);

}  // namespace qkv::codegen
