// SPDX-License-Identifier: BSL-1.0
#pragma once
// Which attentions tensor cores can compute, and from which tensors.
#include <optional>

#include "codegen/plan/tensor_product.hpp"

namespace qkv::codegen {

// weights = softmax of pointwise steps over the product; result = pointwise steps of weights *
// values. All operands are of one type, and all sums of f32.
struct tensor_form {
  dtype element = f32;  // or bf16, f16
  tensor_product product;
  tensor_operand values;
  int columns = 0;
  bool finishes = false;  // pointwise steps follow the sum
  // Weights of 16 bits would be too few for the result, which is of f32.
  bool is_precise = false;
};

// Empty where the stage has another form.
std::optional<tensor_form> tensor_form_of(const program &, const stages &, const attention_stage &);

}  // namespace qkv::codegen
