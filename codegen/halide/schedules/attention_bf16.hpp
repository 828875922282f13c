// SPDX-License-Identifier: BSL-1.0
#pragma once
// Products of bf16 in an attention of a CPU. In each lane, one instruction multiplies two pairs of
// neighbours and adds both products to a sum of f32.
#include <vector>

#include "codegen/halide/lower/attention_funcs.hpp"
#include "codegen/plan/on_machine/register_tile.hpp"

namespace qkv::codegen::bf16_products {

// Two features at a time: rows in lanes, keys broadcast from where they lie; or features in lanes.
void product(Halide::Stage, const attention_vars &, const std::vector<Halide::RVar> &features,
             int lanes);
void product_in_lanes(Halide::Stage, const attention_vars &,
                      const std::vector<Halide::RVar> &features);

// Two keys at a time: columns in lanes, their weights broadcast, which lie beside each other.
void sum(attention_sum &, const attention_funcs &, const Halide::LoopLevel &tile,
         const register_tile &, int lanes);
// Two keys at a time: their values are interleaved.
void values(attention_sum &, const attention_vars &, const Halide::LoopLevel &block, int columns,
            int lanes);

}  // namespace qkv::codegen::bf16_products
