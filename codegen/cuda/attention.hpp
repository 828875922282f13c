// SPDX-License-Identifier: BSL-1.0
#pragma once
// An attention whose products run on tensor cores: its own formulas printed into a skeleton.
#include <optional>
#include <utility>
#include <vector>

#include "codegen/cuda/printed_kernel.hpp"
#include "codegen/halide/lower/context.hpp"
#include "codegen/machines/machine.hpp"
#include "codegen/plan/stages.hpp"

namespace qkv::codegen {

struct printed_attention {
  std::shared_ptr<printed_kernel> kernel;
  std::vector<std::pair<node_id, Halide::Func>> roots;  // scheduled
};

// Stores the stage's roots in the context. Empty where the machine has no tensor cores, the stage
// has another form, or one of its operations has no text in CUDA.
std::optional<printed_attention> print_attention(context &, const attention_stage &,
                                                 const machine &, int number);

}  // namespace qkv::codegen
