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
  // Sums proceed along an axis whose positions are neighbours in memory, if there is one.
  axis_id depth = no_axis;
  std::vector<axis_id> chunks;  // the other axes that are summed up, outermost first
  bool left_by_depth = false, right_by_depth = false;
  // An axis that the right operand lacks: its positions have more rows of one product.
  axis_id folded = no_axis;
  // The result is f32: sums must be more exact than those of wgmma, which round towards zero.
  bool is_precise = false;
};

// Empty where the stage has another form.
std::optional<contraction_form> contraction_form_of(const plan &, const contraction_stage &);

}  // namespace qkv::codegen
