// SPDX-License-Identifier: BSL-1.0
#pragma once
// Which contractions tensor cores can compute, and from which tensors.
#include <optional>

#include "codegen/plan/tensor_operand.hpp"

namespace qkv::codegen {

// result(row, column) = pointwise steps after the sum of left * right, which are tensors of one
// type; all sums are of f32.
struct contraction_form {
  dtype element = f32;  // or bf16, f16
  tensor_operand left, right;
};

// Empty where the stage has another form.
std::optional<contraction_form> contraction_form_of(const program &, const stages &,
                                                    const contraction_stage &);

}  // namespace qkv::codegen
