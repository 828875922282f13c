// SPDX-License-Identifier: BSL-1.0
#pragma once
// A contraction on tensor cores: its addresses, and what becomes of its sums, printed into a
// skeleton.
#include <optional>

#include "codegen/cuda/printed_stage.hpp"
#include "codegen/halide/lower/context.hpp"
#include "codegen/plan/on_machine/tensor_code.hpp"

namespace qkv::codegen {

// As print_stage of an attention (attention.hpp).
std::optional<printed_stage> print_stage(context &, const stage &, const contraction_code &,
                                         int number);

}  // namespace qkv::codegen
