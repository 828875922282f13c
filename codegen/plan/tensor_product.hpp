// SPDX-License-Identifier: BSL-1.0
#pragma once
// Products of rows and keys that tensor cores can compute, and from which tensors.
#include <optional>
#include <vector>

#include "codegen/plan/tensor_operand.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {

// dot(rows, keys) * factors, summed over one axis: the features. A program may have factors on
// operands; where one is infinite, so is the product here, and NaN there.
struct tensor_product {
  node_id core = no_step;
  tensor_operand rows, keys;
  std::vector<node_id> factors;  // one number per row, per key, or for all
  int features = 0;
};

// True if the step that is stored is the sum, perhaps rounded.
bool is_rounded(const program &, node_id root, node_id core);

// An extent that is known and fits into the registers of a tile, or 0.
int extent_in_tile(const program &, axis_id);

class tensor_product_finder {
 public:
  tensor_product_finder(const plan &made, const attention_stage &s)
      : made_(made), p_(made.p), s_(s), gaps_(steps_with_gaps(p_)) {}

  // Empty where the sum has another form, operands of two types, or features that are not
  // neighbours in memory.
  std::optional<tensor_product> product(node_id dot) const;
  // The values of a sum of this stage; their columns are neighbours in memory, and those of the
  // result.
  std::optional<tensor_operand> values(const weighted_sum &) const;
  // True if no other result of the stage is needed for its root.
  bool can_finish(const weighted_sum &) const;
  dtype type_of(const tensor_operand &x) const { return p_[x.memory].type; }

 private:
  node_id without_factors(node_id, axis_id feature, std::vector<node_id> &factors) const;

  const plan &made_;
  const program &p_;
  const attention_stage &s_;
  const std::vector<bool> gaps_;
};

}  // namespace qkv::codegen
