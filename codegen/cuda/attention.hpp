// SPDX-License-Identifier: BSL-1.0
#pragma once
// An attention whose products run on tensor cores: its own formulas printed into a skeleton.
#include <optional>

#include "codegen/cuda/printed_stage.hpp"
#include "codegen/halide/lower/context.hpp"
#include "codegen/plan/on_machine/tensor_code.hpp"

namespace qkv::codegen {

// Stores the stage's roots in the context. Empty where one of its operations has no text in CUDA.
std::optional<printed_stage> print_stage(context &, const stage &, const attention_code &,
                                         int number);

}  // namespace qkv::codegen
