// SPDX-License-Identifier: BSL-1.0
#pragma once
// Sums over pairs that nothing normalises, by tensor cores: the gradients of an attention.
#include <optional>

#include "codegen/cuda/printed_stage.hpp"
#include "codegen/halide/lower/context.hpp"
#include "codegen/plan/on_machine/tensor_code.hpp"

namespace qkv::codegen {

// As print_stage of an attention (attention.hpp).
std::optional<printed_stage> print_stage(context &, const stage &, const pair_sums_code &,
                                         int number);

}  // namespace qkv::codegen
