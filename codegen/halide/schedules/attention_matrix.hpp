// SPDX-License-Identifier: BSL-1.0
#pragma once
// Products of matrix tiles in an attention of a CPU, see matrix_tiles.hpp. Both are stored: scores
// of a tile of rows and the keys of a block, and its sums of values.
#include <vector>

#include "codegen/halide/lower/attention_funcs.hpp"

namespace qkv::codegen::matrix_products {

// Scores of a tile, `lanes` numbers of which are a vector.
void scores(Halide::Func &, attention_funcs &, const std::vector<Halide::RVar> &features,
            const Halide::LoopLevel &tile, int lanes);
// Keys, packed once a block.
void keys(attention_funcs &, const Halide::LoopLevel &block, int lanes);
// Weights and values.
void sum(attention_sum &, const attention_funcs &, const Halide::LoopLevel &tile, int columns,
         int lanes);

}  // namespace qkv::codegen::matrix_products
