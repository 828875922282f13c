// SPDX-License-Identifier: BSL-1.0
#pragma once
// A contraction on tensor cores: its addresses, and what becomes of its sums, printed into a
// skeleton.
#include <optional>

#include "codegen/cuda/printed_kernel.hpp"
#include "codegen/halide/lower/context.hpp"
#include "codegen/machines/machine.hpp"
#include "codegen/plan/stages.hpp"

namespace qkv::codegen {

struct printed_contraction {
  std::shared_ptr<printed_kernel> kernel;
  Halide::Func out;  // scheduled
};

// Stores the stage's root in the context. Empty where the machine has no tensor cores, the stage
// has another form, or one of its operations has no text in CUDA.
std::optional<printed_contraction> print_contraction(context &, const contraction_stage &,
                                                     const machine &, int number);

}  // namespace qkv::codegen
