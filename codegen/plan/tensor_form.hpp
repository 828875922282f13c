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
  int weight_parts = 1;   // see parts_of_weights
};

// So many numbers of 16 bits make a weight, or a pair, of a sum. A result of f32 takes two. Two of
// bf16 have 16 bits: enough where the results of the kernel have 16, else it takes three.
int parts_of_weights(const program &, dtype element, dtype result);

// Empty where the stage has another form.
std::optional<tensor_form> tensor_form_of(const plan &, const attention_stage &);

}  // namespace qkv::codegen
