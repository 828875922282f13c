#pragma once
// The tile of an attention on a machine: the first of the machine's shapes that fits.
#include "codegen/halide/lower/attention.hpp"
#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

attention_tile attention_tile_for(const machine &, const program &, const attention_stage &);

}  // namespace qkv::codegen
