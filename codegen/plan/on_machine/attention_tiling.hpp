// SPDX-License-Identifier: BSL-1.0
#pragma once
// The tiles of an attention on a machine: those of the machine's shapes that fit.
#include "codegen/machines/machine.hpp"
#include "codegen/plan/on_machine/attention_tile.hpp"
#include "codegen/plan/plan.hpp"

namespace qkv::codegen {

// Several where the number of rows is known at the call alone, for ever more rows; the last one is
// for any number. GPUs have one.
std::vector<attention_tile> attention_tiles_for(const machine &, const plan &,
                                                const attention_stage &);

}  // namespace qkv::codegen
