// SPDX-License-Identifier: BSL-1.0
#pragma once
// Text of stages that visit the pairs of rows and keys: tensors, masks, stored results.
#include <string>

#include "codegen/cuda/stage_text.hpp"
#include "codegen/halide/lower/expression.hpp"

namespace qkv::codegen {

class pair_text : protected stage_text {
 protected:
  // Positions of a pair are i and j.
  pair_text(context &, const attention_stage &, dtype element, int number);
  ~pair_text() = default;

  std::string sizes();  // n_rows() and n_keys()
  std::string operand(const std::string &name, const tensor_operand &, axis_id row);

  // The root of a sum; `tensor`: its number in the kernel.
  std::string result(const std::string &name, node_id root, int tensor);
  // The logsumexp, or another sum than the first.
  std::string written(const std::string &name, node_id root);
  // The stored number of a sum, as a function of row, column and `sum`.
  std::string finish(const std::string &name, const weighted_sum &);

  // is_masked, and where it is, which pairs of a tile are present.
  std::string masks(const Halide::Expr &present);
  // dot, a product of the stage, times its factors.
  Halide::Expr scaled(const std::string &dot, const std::vector<node_id> &factors, expression &,
                      const indices &at) const;

  // A function of a whole tile or of one side, whose positions exist.
  std::string function_of_tile(const char *type, const char *name, const char *parameters,
                               const Halide::Expr &);

  const attention_stage &s_;
  const dtype element_;
  indices here_;

 private:
  std::string range();
  std::string whole(const Halide::Expr &present);
};

}  // namespace qkv::codegen
