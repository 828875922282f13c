// SPDX-License-Identifier: BSL-1.0
#pragma once
// The tiles of attention that a machine has, in their order, and those that it needs.
#include <string>
#include <vector>

#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

// The fault of a further line of a CPU, whose kernels take the first line that holds their
// rows; empty if nothing is.
std::string misplaced(const std::vector<attention_shape> &before, const attention_shape &);

// Calls of a line of `one_block` have one tile: the fault of one that has fewer rows than they.
std::string oversized(const attention_shape &);

// The fault of a tile whose products are those of matrix tiles.
std::string misfit_in_matrix(const attention_shape &);

// The fault of a machine with such tiles but without a matrix unit, or without a line of rows any.
std::string missing_matrix_unit(const machine &);

// The line that calls of some rows would miss; empty if each call has a tile.
std::string missing_tiles(const machine &);

}  // namespace qkv::codegen
