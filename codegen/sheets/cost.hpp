// SPDX-License-Identifier: BSL-1.0
#pragma once
// The cost of a kernel, as formulas in the names of its axes.
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/program/sizes.hpp"
#include "codegen/sheets/formula.hpp"

namespace qkv::codegen {

// The steps that a call of these sizes computes (-1: unknown). Where sizes alone choose between two
// steps, as between two orders of contractions, only the chosen one counts; where they are unknown,
// the usual one.
std::vector<bool> taken_steps(const program &, const std::vector<std::int64_t> &size);

// Arithmetic of one step: a multiplication or an addition counts 1, and so does a function; a dot 2
// for each product, a softmax 4 for each element (subtract, exp, add, divide), a logsumexp 3, a
// normalize 2. Views and sources are free, and so is a choice that one condition makes for all
// elements.
formula flops_of(const program &, node_id);

struct cost_sheet {
  formula flops;          // of every step that is computed, all pairs counted
  formula read, written;  // bytes of the arguments, of the outputs: each once
  formula intermediates;  // bytes of all steps between as they are written, if each were stored
  formula saved;          // of the bytes that are written, those for the gradient
};
// `computed` is the simplified program, whose flops are those of a call.
cost_sheet cost_of(const program &written, const program &computed,
                   const std::vector<std::int64_t> &size);

// True where a mask depends on arguments, so that a call may compute fewer pairs than are counted.
bool has_masks_of_data(const program &);

// The flops of a simplified program where a mask that the spec alone decides (causal, a window)
// leaves only some pairs: those steps count by the share that is left. Empty when a size is not
// known.
std::optional<double> flops_left_by_masks(const program &, const std::vector<std::int64_t> &size);

// Bytes of the arguments and outputs of a simplified program that a call reads or writes, each
// once. Keys and values that such a mask hides from every query do not count (with a window of 512,
// all but 512 rows of a cache), nor do table rows that are not looked up. Empty if a size is
// unknown.
std::optional<double> bytes_moved(const program &, const std::vector<std::int64_t> &size);

}  // namespace qkv::codegen
