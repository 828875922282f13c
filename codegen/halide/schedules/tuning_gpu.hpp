#pragma once
// Tile sizes on GPUs: the largest that fit into 48 KB of shared memory and, with 128 threads, into the registers.
#include "codegen/halide/lower/attention.hpp"

namespace qkv::codegen {

attention_tile gpu_attention_tile(const program &, const attention_stage &);

}  // namespace qkv::codegen
