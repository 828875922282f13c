// SPDX-License-Identifier: BSL-1.0
#pragma once
// Lines of a machine file that are tiles of tensor cores.
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/machines/machine.hpp"
#include "codegen/machines/machine_line.hpp"

namespace qkv::codegen {

// Threads that do not fit into a block: a message, else an empty one.
std::string excess_threads(std::int64_t of_block);

// mma sm_80 tile 128 x 64 depth 64 warps 2 x 2 stages 3, and perhaps columns 64, rows 16, fills 90
//
// Fails, as each function here, where the threads of a block cannot share the tile.
contraction_tile read_contraction_tile(machine_line &);

// mma sm_80 features 64 tile 128 x 64 warps 4, or, for few rows, tile 16 x 64 warps 1 rows 16
// blocks 396. wgmma takes so many keys at a time.
tensor_tile read_tensor_tile(machine_line &, const std::vector<int> &keys_of_wgmma);

}  // namespace qkv::codegen
