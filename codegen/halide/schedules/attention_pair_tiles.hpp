// SPDX-License-Identifier: BSL-1.0
#pragma once
// Tiles of what an attention of a CPU reads per query and key: a bias, a mask.
#include <Halide.h>

#include "codegen/halide/lower/attention_funcs.hpp"
#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

// Computes the Func in `tile`, with lanes that hold keys, which are contiguous in memory. So many
// keys are stored.
void in_vectors_of_keys(Halide::Func &, const attention_funcs &, const Halide::LoopLevel &tile,
                        int lanes, int stored_keys);

// Places the tiles of pairs in `tile`; keys of a tile that do not exist are stored, too.
void schedule_pair_tiles(attention_funcs &, const machine &, const Halide::LoopLevel &tile,
                         int lanes, int stored_keys);

}  // namespace qkv::codegen
