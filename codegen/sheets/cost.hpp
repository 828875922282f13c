// SPDX-License-Identifier: BSL-1.0
#pragma once
// The cost of a kernel, as formulas in the names of its axes.
#include "codegen/program/sizes.hpp"
#include "codegen/sheets/formula.hpp"

namespace qkv::codegen {

// Arithmetic of one step: a multiplication or an addition counts 1, and so does a function; a dot 2
// for each product, a softmax 4 for each element (subtract, exp, add, divide), a logsumexp 3, a
// normalize 2. Views and sources are free.
formula flops_of(const program &, node_id);

struct cost_sheet {
  formula flops;          // of every step, all pairs counted
  formula read, written;  // bytes of the arguments, of the outputs: each once
  formula intermediates;  // bytes of all steps between, if each were stored
  formula saved;          // of the bytes that are written, those for the gradient
};
cost_sheet cost_of(const program &);

// flops where a mask that the spec alone decides (causal, a window) leaves only some pairs: those
// steps count by the share that is left. Empty when a size is not known.
std::optional<double> flops_left_by_masks(const program &, const std::vector<std::int64_t> &size);

}  // namespace qkv::codegen
