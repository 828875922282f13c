// SPDX-License-Identifier: BSL-1.0
#pragma once
// Tiles of a machine file that the threads of a block cannot share: one message, else an empty one.
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

std::string excess_threads(std::int64_t of_block);

std::string misfit(const contraction_tile &);
// wgmma takes so many keys at a time.
std::string misfit(const tensor_tile &, const std::vector<int> &keys_of_wgmma);

}  // namespace qkv::codegen
