#pragma once
// Which attentions tensor cores can compute, and from which inputs.
#include <optional>
#include <vector>

#include "codegen/plan/stages.hpp"

namespace qkv::codegen {

// weights = softmax of pointwise steps over dot(queries, keys) * factors; result = weights * values.
// Operands are inputs of 16 bits, features and columns innermost; sums are f32.
struct tensor_form {
  dtype element = bf16;                                         // or f16
  node_id queries = no_step, keys = no_step, values = no_step;  // inputs
  node_id product = no_step;                                    // of queries and keys
  std::vector<node_id> factors;  // of the product: one number per row, per key, or for all
  int features = 0, columns = 0;
};

// Empty where the stage has another form, or where a result of f32 asks for weights of more bits.
std::optional<tensor_form> tensor_form_of(const program &, const attention_stage &);

// True if some attention of these has such a form.
bool has_tensor_forms(const program &, const stages &);

}  // namespace qkv::codegen
