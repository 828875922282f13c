// SPDX-License-Identifier: BSL-1.0
#pragma once
// Which sums over pairs that nothing normalises tensor cores can compute, and from which tensors:
// the gradients of an attention.
#include <optional>
#include <vector>

#include "codegen/plan/tensor_product.hpp"

namespace qkv::codegen {

// Each sum = function of pairs and their products, times values. All operands are of one type, and
// all sums of f32.
struct pair_sums_form {
  struct product {
    tensor_product of;
    std::size_t keys = 0;  // which of the tensors of keys
  };
  struct sum {
    std::size_t values = 0;  // which of the tensors of keys
    int columns = 0;
    bool finishes = false;  // see tensor_form
    int pair_parts = 1;     // see parts_of_weights
  };
  struct key_tensor {
    tensor_operand operand;
    int columns = 0;
    axis_id column = no_axis;
  };

  dtype element = f32;            // or bf16, f16
  std::vector<key_tensor> keys;   // operands of products, and values
  std::vector<product> products;  // one or two
  std::vector<sum> sums;          // one to three
};

// Empty where the stage has another form.
std::optional<pair_sums_form> pair_sums_form_of(const plan &, const attention_stage &);

}  // namespace qkv::codegen
