// SPDX-License-Identifier: BSL-1.0
#pragma once
// Sums over pairs that nothing normalises, by tensor cores: the gradients of an attention.
#include <optional>

#include "codegen/cuda/attention.hpp"

namespace qkv::codegen {

// As print_attention, which has the stages with weights.
std::optional<printed_attention> print_pair_sums(context &, const attention_stage &,
                                                 const machine &, int number);

}  // namespace qkv::codegen
