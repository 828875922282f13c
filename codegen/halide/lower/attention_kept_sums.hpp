// SPDX-License-Identifier: BSL-1.0
#pragma once
// The state and the results of a walk that keeps its sums until it has seen all pairs: over the
// keys for each row, over the rows for each key, and at positions. A task takes a part of the rows
// and all keys.
#include "codegen/halide/lower/attention_form.hpp"

namespace qkv::codegen {

void lower_kept_sums(attention_form &);

}  // namespace qkv::codegen
