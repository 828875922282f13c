// SPDX-License-Identifier: BSL-1.0
#pragma once
// Which attentions tensor cores can compute, and from which tensors.
#include <optional>
#include <vector>

#include "codegen/plan/tensor_operand.hpp"

namespace qkv::codegen {

// weights = softmax of pointwise steps over dot(queries, keys) * factors; result = weights *
// values. All operands are of one type, and all sums of f32.
struct tensor_form {
  dtype element = f32;  // or bf16, f16
  tensor_operand queries, keys, values;
  node_id product = no_step;     // of queries and keys
  std::vector<node_id> factors;  // of the product: one number per row, per key, or for all
  int features = 0, columns = 0;
};

// Empty where the stage has another form, or where weights of 16 bits are too few for the results.
std::optional<tensor_form> tensor_form_of(const program &, const stages &, const attention_stage &);

}  // namespace qkv::codegen
