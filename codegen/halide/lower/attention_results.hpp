// SPDX-License-Identifier: BSL-1.0
#pragma once
// The running state of an attention, and its results.
#include "codegen/halide/lower/attention_form.hpp"

namespace qkv::codegen {

// Merges the blocks of keys into one state per tile of rows.
void lower_state(attention_form &);

// Defines the results from the last state of the form that the call takes, and stores the stage's
// roots in the context.
void lower_results(const std::vector<attention_form *> &forms);

}  // namespace qkv::codegen
